// Package words has short words for algorithms: a function for each node of package gen, which takes
// expressions and regions as text. Imported as w:
//
//	w.Loop("s", "size - 1",
//		w.Let("c", "down(rank - s, size)"),
//		w.Step(w.Send("next", "out[c]"), w.Recv("prev", "out[down(c - 1, size)]")))
//
// [spec.Parse] says what an expression is, and [gen.ParseRegion] what a region is. The result is the same data as that
// of composite literals, and the two can be mixed.
//
// The functions are for variables of a package. Where a text cannot be read they panic, as regexp.MustCompile does. The
// panic says which line of the algorithm it is.
package words

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// E returns the expression that text says.
func E(text string) spec.Expr { return expr(text) }

// R returns the region that text says.
func R(text string) gen.Region { return region(text) }

// Let gives a value a name for the rest of the enclosing body.
func Let(name, is string) gen.Let { return gen.Let{Name: name, Is: expr(is)} }

// LetBuf gives a buffer a name for the rest of the enclosing body: then where cond holds, and otherwise els.
func LetBuf(name, cond string, then, els spec.Buf) gen.LetBuf {
	return gen.LetBuf{Name: spec.Buf(name), Cond: expr(cond), Then: then, Else: els}
}

// Fold gives names to numbers that are worked out in n turns, v = 0, 1, …, n-1, see [gen.Fold].
func Fold(v, n string, state []gen.State, body ...gen.Node) gen.Fold {
	return gen.Fold{Var: v, N: expr(n), State: state, Body: body}
}

// FoldIf is a Fold whose numbers change in the turns in which cond holds.
func FoldIf(v, n, cond string, state []gen.State, body ...gen.Node) gen.Fold {
	return gen.Fold{Var: v, N: expr(n), State: state, Body: body, When: expr(cond)}
}

// State is a number that a Fold works out: first before the first turn, and next after a turn.
func State(name, first, next string) gen.State {
	return gen.State{Name: name, First: expr(first), Next: expr(next)}
}

// Loop runs body with v = 0, 1, …, n-1.
func Loop(v, n string, body ...gen.Node) gen.For { return gen.For{Var: v, N: expr(n), Body: body} }

// If runs body where cond holds.
func If(cond string, body ...gen.Node) gen.If { return gen.If{Cond: expr(cond), Then: body} }

// IfElse runs then where cond holds, and otherwise els.
func IfElse(cond string, then, els []gen.Node) gen.If {
	return gen.If{Cond: expr(cond), Then: then, Else: els}
}

// Step does these actions at once, see [gen.Step].
func Step(actions ...gen.Node) gen.Step { return gen.Step(actions) }

// Send sends data to a rank.
func Send(to, data string) gen.Send { return gen.Send{To: expr(to), Data: region(data)} }

// Recv receives into a region from a rank.
func Recv(from, into string) gen.Recv { return gen.Recv{From: expr(from), Into: region(into)} }

// RecvReduce receives an operand from a rank, and sets into to with ⊕ received.
func RecvReduce(from, into, with string) gen.RecvReduce {
	return gen.RecvReduce{From: expr(from), Into: region(into), With: region(with)}
}

// Copy copies from to into.
func Copy(into, from string) gen.Copy { return gen.Copy{Into: region(into), From: region(from)} }

// Reduce sets into to from[v:=0] ⊕ … ⊕ from[v:=n-1].
func Reduce(into, v, n, from string) gen.Reduce {
	return gen.Reduce{Into: region(into), Var: v, N: expr(n), From: region(from)}
}

// Finish completes a reduction in place.
func Finish(data string) gen.Finish { return gen.Finish{Data: region(data)} }

func expr(text string) spec.Expr {
	e, err := spec.Parse(text)
	check(err)
	return e
}

func region(text string) gen.Region {
	r, err := gen.ParseRegion(text)
	check(err)
	return r
}

// check panics with err, unless that is nil, and with the line that called this package.
func check(err error) {
	if err == nil {
		return
	}
	_, here, _, _ := runtime.Caller(0)
	for depth := 1; ; depth++ {
		_, file, line, ok := runtime.Caller(depth)
		if !ok {
			panic(err)
		}
		if file != here {
			panic(fmt.Errorf("%s:%d: %w", filepath.Base(file), line, err))
		}
	}
}
