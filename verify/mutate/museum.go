package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
)

// exhibit is a mistake that was made in another library, made in ours: in an algorithm, or in the source code of what carries
// algorithms out.
type exhibit struct {
	peer  string // whose mistake it was
	fix   string // where it was repaired, or reported
	wrong string // what went wrong there, in one sentence
	here  string // what is done here, if that is not the very same

	in     gen.Algorithm // the algorithm that has it; of source code the zero one
	plant  func(*gen.Algorithm)
	caught verify.Check // by which check of package verify
	says   string       // a part of the counterexample

	source planted
}

// planted is a mistake in a file of this module, found by a test.
type planted struct {
	file     string
	old, new string // the only place where the old text stands gets the new one
	pkg, run string // the tests that find it
}

func (x *exhibit) isSource() bool { return x.source.file != "" }

// where is what the mistake is planted in.
func (x *exhibit) where() string {
	if x.isSource() {
		return x.source.file
	}
	return x.in.FullName()
}

// killer is what finds it.
func (x *exhibit) killer() string {
	if x.isSource() {
		return strings.NewReplacer("^", "", "$", "").Replace(x.source.run) + " of " + x.source.pkg
	}
	return fmt.Sprintf("verify: %s", x.caught)
}

// museumDepths and museumSize bound the calls in which package verify looks for the mistakes.
var museumDepths = []int{1, 2, 3, 4}

const museumSize = 9

// verify is what package verify says of the planted algorithm: nil if it finds nothing.
func (x *exhibit) verify() (*verify.Failure, error) {
	a := x.in
	x.plant(&a)
	_, err := verify.Algorithm(context.Background(), &a, verify.Options{To: museumSize, Depths: museumDepths})
	var f *verify.Failure
	if errors.As(err, &f) {
		return f, nil
	}
	return nil, err
}
