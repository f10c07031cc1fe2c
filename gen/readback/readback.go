// Package readback reads generated Go back. It finds out what ranks do in a generated function and what they are to do
// by the algorithm, and compares the two in a normal form, for every number of ranks at once: so what was proved of the
// algorithm holds of the text. It shares no code with package golang, which prints the text, understands the forms of
// statements and expressions that generated code has, and refuses all others.
//
// The normal form is a list of the calls that a rank makes of the runtime, in loops, each with the conditions under
// which it is made. Names are replaced by what they stand for: by terms over the parameters of the call and the turns
// of loops. Two terms are equal only if they have the same value wherever the expression of the algorithm has one.
package readback

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Proved is what the table says of the calls for which an algorithm was proved, by the names of the fields in the
// runtime.
type Proved struct {
	Sizes, Depths int
	Every         bool
}

// Collective is what a primitive's code was generated from.
type Collective struct {
	Primitive  spec.Primitive
	Algorithms []Declared
	Rules      []gen.Rule
}

// Declared is an algorithm in the form in which it was printed, and the hash of that which was declared.
type Declared struct {
	gen.Algorithm
	Hash   [32]byte
	Proved Proved
}

// Error says in what the code that was generated differs from an algorithm, or why it cannot be read.
type Error struct {
	Algorithm string // its full name; empty: it is about the primitive
	Err       error
}

func (e *Error) Error() string {
	if e.Algorithm == "" {
		return e.Err.Error()
	}
	return e.Algorithm + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Package is generated code whose types were checked, without an error: see [Checker].
type Package struct {
	Set   *token.FileSet
	Info  *types.Info
	Files []*ast.File // those that were generated
}
