package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
)

// exhibit is a mistake that was made in another library, made in ours: in an algorithm, or in the source code of what
// carries algorithms out.
type exhibit struct {
	peer  string // whose mistake it was
	fix   string // where it was repaired, or reported
	wrong string // what went wrong there, in one sentence
	here  string // what is done here, if that is not the very same

	in     gen.Algorithm // the algorithm that has it; of source code the zero one
	plant  func(*gen.Algorithm)
	caught verify.Check // by which check of package verify
	says   string       // a part of the counterexample, or of what the test says

	source planted
}

// planted is a mistake in a file of this module, found by a test.
type planted struct {
	file     string
	old, new string // the only place where the old text stands gets the new one
	pkg, run string // the tests that find it
}

func (x *exhibit) isSource() bool { return x.source.file != "" }

// where returns what the mistake is planted in.
func (x *exhibit) where() string {
	if x.isSource() {
		return x.source.file
	}
	return x.in.FullName()
}

// String names the exhibit by whose mistake it was, and where that is told.
func (x *exhibit) String() string { return x.peer + " " + shortReference(x.fix) + " in " + x.where() }

// killer returns what finds it: the rung of the ladder and its check, or the test.
func (x *exhibit) killer() string {
	if x.isSource() {
		return x.source.test()
	}
	return fmt.Sprintf("rung %s: %s", scheduleRung, x.caught)
}

// test returns the test that finds it.
func (p planted) test() string {
	return strings.NewReplacer("^", "", "$", "").Replace(p.run) + " of " + p.pkg
}

// museumDepths and museumSize bound the calls in which package verify looks for the mistakes.
var museumDepths = []int{1, 2, 3, 4}

const museumSize = 9

// planted returns the algorithm with the mistake.
func (x *exhibit) planted() *gen.Algorithm {
	a := x.in
	x.plant(&a)
	return &a
}

// verify returns what package verify says of the planted algorithm: nil if it finds nothing.
func (x *exhibit) verify() (*verify.Failure, error) {
	_, err := verify.Algorithm(context.Background(), x.planted(), verify.Options{To: museumSize, Depths: museumDepths})
	var f *verify.Failure
	if errors.As(err, &f) {
		return f, nil
	}
	return nil, err
}

// fate returns what became of the planted algorithm: only the check that the exhibit names kills it.
func (x *exhibit) fate(f *verify.Failure) fate {
	switch {
	case f == nil:
		return fate{Mutant: x.String()}
	case f.Check != x.caught || !strings.Contains(f.Error(), x.says):
		return fate{Mutant: x.String(), Words: fmt.Sprintf("not %s: %s", x.caught, ofError(f))}
	}
	return fate{Mutant: x.String(), Rung: scheduleRung, Check: string(f.Check), Words: ofError(f)}
}

// fateOf returns what became of the planted source code: only the words that the exhibit names are those of its
// failure.
func (x *exhibit) fateOf(v verdict) fate {
	switch said := words(v.output); {
	case v.killer == "":
		return fate{Mutant: x.String()}
	case !strings.Contains(said, x.says):
		return fate{Mutant: x.String(), Words: fmt.Sprintf("not %q: %s", x.says, said)}
	default:
		return fate{Mutant: x.String(), Rung: testRung, Check: x.source.test(), Words: said}
	}
}
