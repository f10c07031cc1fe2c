// Package bugs is a corpus of bugs, each with what has to find it. Those in Common are mistakes that people make; those
// in Known were made in other libraries. Each is planted in an algorithm or a source file of ours.
package bugs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
)

// Bug is a mistake, and what finds it.
type Bug struct {
	Library   string // that had it; "" in Common
	Reference string // where it was fixed or reported
	What      string // what went wrong, in one sentence
	Here      string // what is planted, if it differs

	In    gen.Algorithm        // the algorithm in which it is planted; zero for source code
	Plant func(*gen.Algorithm) // nil: the algorithm has the bug
	Check verify.Check         // the check that has to find it
	Says  string               // a part of the counterexample, or of the test's output

	Source Source
}

// Source is a mistake in a file of this module, and the test that finds it.
type Source struct {
	File         string
	Old, New     string // New replaces the only occurrence of Old
	Package, Run string // of the test
}

// IsSource reports whether the bug is planted in source code.
func (b *Bug) IsSource() bool { return b.Source.File != "" }

// Place returns the file or the algorithm in which the bug is planted.
func (b *Bug) Place() string {
	if b.IsSource() {
		return b.Source.File
	}
	return b.In.FullName()
}

// Name returns the library, the reference and the place, in short.
func (b *Bug) Name() string { return b.Library + " " + b.shortReference() + " in " + b.Place() }

// shortReference returns the commit, or the number, at the end of the reference.
func (b *Bug) shortReference() string {
	parts := strings.Split(b.Reference, "/")
	kind, name := parts[len(parts)-2], parts[len(parts)-1]
	if kind == "commit" {
		return name
	}
	return "#" + name
}

// Test returns the name of the test that finds a mistake in source code, and its package.
func (s *Source) Test() string {
	return strings.NewReplacer("^", "", "$", "").Replace(s.Run) + " of " + s.Package
}

// MaxSize is the largest number of ranks with which bugs are looked for.
const MaxSize = 9

// Options says in which calls bugs are looked for.
var Options = verify.Options{To: MaxSize, Depths: []int{1, 2, 3, 4}}

// Planted returns the algorithm with the bug.
func (b *Bug) Planted() *gen.Algorithm {
	a := b.In
	if b.Plant != nil {
		b.Plant(&a)
	}
	return &a
}

// Verify returns the counterexample that package verify finds, or nil if it finds none.
func (b *Bug) Verify(ctx context.Context, o verify.Options) (*verify.Failure, error) {
	_, err := verify.Algorithm(ctx, b.Planted(), o)
	var f *verify.Failure
	if errors.As(err, &f) {
		return f, nil
	}
	return nil, err
}

// IsFoundBy reports whether f is the counterexample that the bug has to have.
func (b *Bug) IsFoundBy(f *verify.Failure) bool {
	return f != nil && f.Check == b.Check && strings.Contains(f.Error(), b.Says)
}

// libraries returns the libraries of Known, each once.
func libraries() (all []string) {
	for _, b := range Known {
		if !slices.Contains(all, b.Library) {
			all = append(all, b.Library)
		}
	}
	return all
}
