package readback

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// random draws bodies of algorithms that mean nothing, of all that the language has.
type random struct {
	*rapid.T
	names []string // of numbers, in scope
	bufs  []spec.Buf
	next  int // the number of the next name
}

func (r *random) pick(n int) int { return rapid.IntRange(0, n-1).Draw(r.T, "pick") }

func (r *random) fresh(kind string) string {
	r.next++
	return fmt.Sprintf("%s%d", kind, r.next)
}

// number returns an expression without conditionals, as they stand in Lets alone.
func (r *random) number(depth int) spec.Expr {
	if depth == 0 || r.pick(3) == 0 {
		if r.pick(3) == 0 {
			return spec.Int(r.pick(7) - 2)
		}
		return spec.Var(r.names[r.pick(len(r.names))])
	}
	x, y := r.number(depth-1), r.number(depth-1)
	switch r.pick(11) {
	case 0:
		return spec.Log2(x)
	case 1:
		return spec.CeilLog2(x)
	case 2:
		return spec.Add(spec.Log2(x), spec.Int(1))
	}
	ops := []func(x, y spec.Expr) spec.Expr{spec.Add, spec.Sub, spec.Mul, spec.Min, spec.Max, spec.BitAnd, spec.BitOr,
		spec.BitXor,
		spec.Shl, spec.Shr, spec.Div, spec.Mod, spec.Reverse}
	return ops[r.pick(len(ops))](x, y)
}

func (r *random) truth(depth int) spec.Expr {
	if depth == 0 || r.pick(3) == 0 {
		compare := []func(x, y spec.Expr) spec.Expr{spec.Eq, spec.Ne, spec.Lt, spec.Le, spec.Gt, spec.Ge}
		return compare[r.pick(len(compare))](r.number(1), r.number(1))
	}
	switch r.pick(4) {
	case 0:
		return spec.Not(r.truth(depth - 1))
	case 1:
		return r.number(depth)
	case 2:
		return spec.Or(r.truth(depth-1), r.truth(depth-1))
	}
	return spec.And(r.truth(depth-1), r.truth(depth-1))
}

// value returns what a Let may be.
func (r *random) value() spec.Expr {
	switch r.pick(4) {
	case 0:
		return spec.If(r.truth(1), r.number(2), r.number(2))
	case 1:
		return spec.If(r.truth(1), r.number(1), spec.If(r.truth(1), r.number(1), r.number(2)))
	case 2:
		return spec.Up(r.number(2), spec.Size)
	}
	return r.number(3)
}

// inside calls f in its own scope.
func (r *random) inside(f func()) {
	names, bufs := len(r.names), len(r.bufs)
	f()
	r.names, r.bufs = r.names[:names], r.bufs[:bufs]
}

// body returns some nodes, of which those in a step are actions.
func (r *random) body(depth int, node func(depth int) gen.Node) (nodes []gen.Node) {
	r.inside(func() {
		for range 1 + r.pick(3) {
			nodes = append(nodes, r.node(depth, node))
		}
	})
	return nodes
}

func (r *random) node(depth int, leaf func(depth int) gen.Node) gen.Node {
	switch r.pick(8) {
	case 0:
		n := gen.Let{Name: r.fresh("v"), Is: r.value()}
		r.names = append(r.names, n.Name)
		return n
	case 1:
		n := gen.LetBuf{Name: spec.Buf(r.fresh("b")), Cond: r.truth(1), Then: r.buf(), Else: r.buf()}
		r.bufs = append(r.bufs, n.Name)
		return n
	case 7:
		return r.fold(depth)
	case 2, 3:
		if depth > 0 {
			n := gen.If{Cond: r.truth(1), Then: r.body(depth-1, leaf)}
			if r.pick(2) == 0 {
				n.Else = r.body(depth-1, leaf)
			}
			return n
		}
	case 4:
		if depth > 0 {
			n := gen.For{Var: r.fresh("k"), N: r.number(1)}
			r.inside(func() {
				r.names = append(r.names, n.Var)
				n.Body = r.body(depth-1, leaf)
			})
			return n
		}
	}
	return leaf(depth)
}

// fold returns a Fold with up to three numbers.
func (r *random) fold(depth int) gen.Node {
	n := gen.Fold{Var: r.fresh("t"), N: r.number(1)}
	for range 1 + r.pick(3) {
		n.State = append(n.State, gen.State{Name: r.fresh("s"), First: r.value()})
	}
	for _, x := range n.State {
		r.names = append(r.names, x.Name)
	}
	r.inside(func() {
		r.names = append(r.names, n.Var)
		for range r.pick(3) {
			if depth > 0 && r.pick(4) == 0 {
				n.Body = append(n.Body, r.fold(depth-1))
				continue
			}
			let := gen.Let{Name: r.fresh("v"), Is: r.value()}
			n.Body, r.names = append(n.Body, let), append(r.names, let.Name)
		}
		if r.pick(2) == 0 {
			n.When = r.truth(1)
		}
		for i := range n.State {
			n.State[i].Next = r.number(2)
		}
	})
	return n
}

func (r *random) buf() spec.Buf { return r.bufs[r.pick(len(r.bufs))] }

func (r *random) region() gen.Region {
	switch r.pick(3) {
	case 0:
		return gen.Span(r.buf(), r.number(1), r.number(1))
	case 1:
		return gen.Slot(r.buf(), r.number(1), r.number(1))
	}
	return gen.Chunk(r.buf(), r.number(1))
}

func (r *random) step(depth int) gen.Node {
	var s gen.Step
	r.inside(func() {
		for range 1 + r.pick(3) {
			s = append(s, r.node(depth, r.message))
		}
		for range r.pick(3) {
			s = append(s, r.node(depth, r.local))
		}
	})
	return s
}

func (r *random) message(int) gen.Node {
	switch r.pick(5) {
	case 0:
		return gen.Recv{From: r.number(1), Into: r.region(), AfterSend: r.pick(2) == 0, Lend: r.pick(3) == 0}
	case 1:
		n := gen.RecvReduce{From: r.number(1), Into: r.region(), With: r.region(), AfterSend: r.pick(2) == 0}
		if r.pick(2) == 0 {
			n.ReceivedFirst = r.truth(1)
		}
		return n
	case 2:
		return gen.Send{To: r.number(1)}
	case 3:
		return gen.Recv{From: r.number(1)}
	}
	return gen.Send{To: r.number(1), Data: r.region()}
}

func (r *random) local(int) gen.Node {
	switch r.pick(3) {
	case 0:
		return gen.Copy{Into: r.region(), From: r.region(), Lend: r.pick(3) == 0}
	case 1:
		n := gen.Reduce{Into: r.region(), Var: r.fresh("i"), N: r.number(1)}
		r.inside(func() {
			r.names = append(r.names, n.Var)
			n.From = r.region()
		})
		return n
	}
	return gen.Finish{Data: r.region()}
}

// TestRandom prints what means nothing and reads it back. What Go refuses is no test: shifts of constants by negative
// ones, say.
func TestRandom(t *testing.T) {
	k, tried, read := NewChecker(sources(t)), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := &random{T: t, names: []string{"rank", "size", "depth"}, bufs: []spec.Buf{spec.In, spec.Out, spec.Scratch}}
		c := with(r.body(2, r.step)...)
		a := &c.Algorithms[0]
		a.Algorithm = printed(a.Algorithm)
		tried++
		text, err := golang.File(golang.Package{Path: theirs, Name: "theirs", Command: "a test"},
			golang.Collective{Primitive: c.Primitive,
				Algorithms: []golang.Proved{{Algorithm: a.Algorithm, Hash: a.Hash}}})
		var refused *golang.Error
		if errors.As(err, &refused) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Typecheck(theirs, map[string][]byte{"z.go": text})
		if err != nil {
			if !strings.Contains(err.Error(), "constant") && !strings.Contains(err.Error(), "negative shift count") {
				t.Fatalf("%v\n%s", err, a.Text())
			}
			return
		}
		if err := p.Check(c); err != nil {
			t.Fatalf("%v\n%s\n%s", err, a.Text(), text[strings.Index(string(text), "func allReduceTest"):])
		}
		read++
	})
	if t.Logf("%d of %d were read back", read, tried); read < tried/3 {
		t.Error("most were refused by the printer or the compiler")
	}
}
