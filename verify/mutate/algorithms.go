package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// algorithmMutants tries every small change of an algorithm's program: of each expression, node and mark.
func algorithmMutants(a *gen.Algorithm, b bounds, each func(trial)) error {
	o := verify.Options{From: b.from, To: b.to, Depths: b.depths}
	for number, m := range variants(a) {
		if (number+1)%b.every != 0 {
			continue
		}
		t := trial{what: a.FullName() + ": " + m.what, operator: m.operator, mutant: &m.a}
		_, err := verify.Algorithm(context.Background(), &m.a, o)
		var f *verify.Failure
		switch {
		case errors.As(err, &f):
			t.killer, t.err = string(f.Check), err
		case err != nil && !errors.Is(err, verify.ErrNothing):
			return err
		default:
			t.same = sameCalls(a, &m.a, o)
		}
		each(t)
	}
	return nil
}

// sameCalls reports whether two algorithms have schedules with the same meaning for all calls that the first serves.
func sameCalls(a, b *gen.Algorithm, o verify.Options) bool {
	for size := o.From; size <= o.To; size++ {
		for _, call := range a.Calls(size, o.Depths...) {
			s, err1 := gen.Instantiate(a, call)
			t, err2 := gen.Instantiate(b, call)
			if err1 != nil || err2 != nil || !b.Serves(size, call.Local) {
				return false
			}
			if reflect.DeepEqual(s.Ranks, t.Ranks) {
				continue
			}
			for _, inPlace := range []bool{false, true} {
				if inPlace && a.Requires.OutOfPlace {
					continue
				}
				if meaning(s, inPlace) != meaning(t, inPlace) {
					return false
				}
			}
		}
	}
	return true
}

// variant is an algorithm with one change.
type variant struct {
	a              gen.Algorithm
	operator, what string
}

// variants returns all changes of an algorithm that this package knows.
func variants(a *gen.Algorithm) []variant {
	var all []variant
	for _, c := range bodyChanges(a.Body) {
		b := *a
		b.Body = c.is
		all = append(all, variant{b, c.operator, c.what})
	}
	for _, c := range exprChanges(a.Scratch) {
		b := *a
		b.Scratch = c.is
		all = append(all, variant{b, "scratch: " + c.operator, c.what})
	}
	for _, c := range exprChanges(a.Chunks) {
		b := *a
		b.Chunks = c.is
		all = append(all, variant{b, "chunks: " + c.operator, c.what})
	}
	return append(all, demands(a)...)
}

// demands returns changes that drop one of the algorithm's requirements. Dropping one that is not needed is no mistake.
func demands(a *gen.Algorithm) []variant {
	var all []variant
	if a.Requires.Commutative {
		b := *a
		b.Requires.Commutative = false
		all = append(all, variant{b, "an operator need not commute", "requires"})
	}
	if a.Requires.OutOfPlace {
		b := *a
		b.Requires.OutOfPlace = false
		all = append(all, variant{b, "it may be in place", "requires"})
	}
	if !a.Requires.Size.IsAbsent() {
		b := *a
		b.Requires.Size = spec.Expr{}
		all = append(all, variant{b, "it serves every size", "requires"})
	}
	return all
}

// change is a value with one change.
type change[T any] struct {
	is             T
	operator, what string
}

// bodyChanges returns nodes with one node left out, doubled, exchanged with the next one, or changed.
func bodyChanges(nodes []gen.Node) []change[[]gen.Node] {
	var all []change[[]gen.Node]
	for i, n := range nodes {
		with := func(c change[gen.Node], is ...gen.Node) {
			all = append(all, change[[]gen.Node]{slices.Concat(nodes[:i:i], is, nodes[i+1:]), c.operator, c.what})
		}
		if _, isName := n.(gen.Let); !isName {
			with(change[gen.Node]{operator: "a node is left out", what: text(n)})
			with(change[gen.Node]{operator: "a node is there twice", what: text(n)}, n, n)
		}
		if i+1 < len(nodes) {
			swapped := slices.Clone(nodes)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			all = append(all, change[[]gen.Node]{swapped, "a node changes places with the next one", text(n)})
		}
		for _, c := range nodeChanges(n) {
			with(c, c.is)
		}
	}
	return all
}

// nodeChanges returns a node with one part changed.
func nodeChanges(n gen.Node) []change[gen.Node] {
	var c nodeChange
	c.text = text(n)
	switch n := n.(type) {
	case gen.For:
		c.expr("the bound of a loop", n.N, func(e spec.Expr) gen.Node { m := n; m.N = e; return m })
		c.body(n.Body, func(b []gen.Node) gen.Node { m := n; m.Body = b; return m })
	case gen.If:
		c.expr("a condition", n.Cond, func(e spec.Expr) gen.Node { m := n; m.Cond = e; return m })
		c.one("the branches are exchanged", gen.If{Cond: n.Cond, Then: n.Else, Else: n.Then})
		c.body(n.Then, func(b []gen.Node) gen.Node { m := n; m.Then = b; return m })
		c.body(n.Else, func(b []gen.Node) gen.Node { m := n; m.Else = b; return m })
	case gen.Let:
		c.expr("a variable", n.Is, func(e spec.Expr) gen.Node { m := n; m.Is = e; return m })
	case gen.LetBuf:
		c.expr("the choice of a buffer", n.Cond, func(e spec.Expr) gen.Node { m := n; m.Cond = e; return m })
		c.one("the buffers are exchanged", gen.LetBuf{Name: n.Name, Cond: n.Cond, Then: n.Else, Else: n.Then})
	case gen.Fold:
		c.fold(n)
	case gen.Step:
		c.body(n, func(b []gen.Node) gen.Node { return gen.Step(b) })
		if len(n) > 1 {
			c.split(n)
		}
	case gen.Send:
		c.expr("a peer", n.To, func(e spec.Expr) gen.Node { m := n; m.To = e; return m })
		c.region("what is sent", n.Data, func(r gen.Region) gen.Node { m := n; m.Data = r; return m })
	case gen.Recv:
		c.expr("a peer", n.From, func(e spec.Expr) gen.Node { m := n; m.From = e; return m })
		c.region("where to", n.Into, func(r gen.Region) gen.Node { m := n; m.Into = r; return m })
		c.one("AfterSend", func() gen.Node { m := n; m.AfterSend = !m.AfterSend; return m }())
		c.one("Lend", func() gen.Node { m := n; m.Lend = !m.Lend; return m }())
	case gen.RecvReduce:
		c.expr("a peer", n.From, func(e spec.Expr) gen.Node { m := n; m.From = e; return m })
		c.region("where to", n.Into, func(r gen.Region) gen.Node { m := n; m.Into = r; return m })
		c.region("an operand", n.With, func(r gen.Region) gen.Node { m := n; m.With = r; return m })
		c.expr("the order of operands", n.ReceivedFirst, func(e spec.Expr) gen.Node { m := n; m.ReceivedFirst = e; return m })
		c.one("AfterSend", func() gen.Node { m := n; m.AfterSend = !m.AfterSend; return m }())
	case gen.Copy:
		c.region("where to", n.Into, func(r gen.Region) gen.Node { m := n; m.Into = r; return m })
		c.region("what is copied", n.From, func(r gen.Region) gen.Node { m := n; m.From = r; return m })
		c.one("Lend", func() gen.Node { m := n; m.Lend = !m.Lend; return m }())
	case gen.Reduce:
		c.region("where to", n.Into, func(r gen.Region) gen.Node { m := n; m.Into = r; return m })
		c.region("an operand", n.From, func(r gen.Region) gen.Node { m := n; m.From = r; return m })
		c.expr("the number of operands", n.N, func(e spec.Expr) gen.Node { m := n; m.N = e; return m })
	case gen.Finish:
		c.region("what is finished", n.Data, func(r gen.Region) gen.Node { return gen.Finish{Data: r} })
	}
	return c.all
}

// nodeChange collects the changes of one node.
type nodeChange struct {
	text string
	all  []change[gen.Node]
}

func (c *nodeChange) one(operator string, n gen.Node) {
	c.all = append(c.all, change[gen.Node]{n, operator, c.text})
}

func (c *nodeChange) expr(of string, e spec.Expr, put func(spec.Expr) gen.Node) {
	for _, x := range exprChanges(e) {
		c.all = append(c.all, change[gen.Node]{put(x.is), of + ": " + x.operator, c.text + ", " + x.what})
	}
}

func (c *nodeChange) body(nodes []gen.Node, put func([]gen.Node) gen.Node) {
	for _, x := range bodyChanges(nodes) {
		c.all = append(c.all, change[gen.Node]{put(x.is), x.operator, x.what})
	}
}

// fold adds changes of a Fold: of its turns, of when its numbers change, and of each number.
func (c *nodeChange) fold(n gen.Fold) {
	c.expr("the turns of a fold", n.N, func(e spec.Expr) gen.Node { m := n; m.N = e; return m })
	c.expr("when a fold's numbers change", n.When, func(e spec.Expr) gen.Node { m := n; m.When = e; return m })
	if !n.When.IsAbsent() {
		m := n
		m.When = spec.Expr{}
		c.one("a fold's numbers change in every turn", m)
	}
	for i, x := range n.State {
		with := func(first, next spec.Expr) gen.Node {
			m := n
			m.State = slices.Clone(n.State)
			m.State[i].First, m.State[i].Next = first, next
			return m
		}
		c.expr("a fold's first number", x.First, func(e spec.Expr) gen.Node { return with(e, x.Next) })
		c.expr("a fold's next number", x.Next, func(e spec.Expr) gen.Node { return with(x.First, e) })
	}
	c.body(n.Body, func(b []gen.Node) gen.Node { m := n; m.Body = b; return m })
}

// text returns a node's line in the text of its algorithm.
func text(n gen.Node) string {
	a := gen.Algorithm{Body: []gen.Node{n}}
	return strings.TrimSpace(strings.Split(a.Text(), "\n")[1])
}

// region adds changes of a region's buffer and expressions.
func (c *nodeChange) region(of string, r gen.Region, put func(gen.Region) gen.Node) {
	for _, b := range []spec.Buf{spec.In, spec.Out, spec.Scratch} {
		if r.Buf != "" && b != r.Buf {
			other := r
			other.Buf = b
			c.one(of+": another buffer", put(other))
		}
	}
	c.expr(of, r.At, func(e spec.Expr) gen.Node { m := r; m.At = e; return put(m) })
	c.expr(of+", its length", r.N, func(e spec.Expr) gen.Node { m := r; m.N = e; return put(m) })
	c.expr(of+", the chunk it is like", r.Like, func(e spec.Expr) gen.Node { m := r; m.Like = e; return put(m) })
	for i, e := range r.Counts {
		c.expr(of+", the block it is like", e, func(e spec.Expr) gen.Node {
			m := r
			m.Counts = slices.Clone(r.Counts)
			m.Counts[i] = e
			return put(m)
		})
	}
}

// split adds changes that cut a step in two, so that ranks wait in the middle of it.
func (c *nodeChange) split(n gen.Step) {
	c.one("a step is cut in two", gen.If{Cond: spec.Int(1), Then: []gen.Node{n[:1], n[1:]}})
	c.one("a step is cut in two, its end first", gen.If{Cond: spec.Int(1), Then: []gen.Node{n[1:], n[:1]}})
}

// others has for an operator of spec the one that may be mistaken for it.
var others = map[spec.ExprKind]spec.ExprKind{
	spec.AddExpr: spec.SubExpr, spec.SubExpr: spec.AddExpr, spec.MinExpr: spec.MaxExpr, spec.MaxExpr: spec.MinExpr,
	spec.EqExpr: spec.NeExpr, spec.NeExpr: spec.EqExpr, spec.LtExpr: spec.LeExpr, spec.LeExpr: spec.LtExpr,
	spec.AndExpr: spec.OrExpr, spec.OrExpr: spec.AndExpr, spec.ShlExpr: spec.ShrExpr, spec.ShrExpr: spec.ShlExpr,
	spec.BitAndExpr: spec.BitXorExpr, spec.BitOrExpr: spec.BitXorExpr, spec.BitXorExpr: spec.BitAndExpr,
	spec.DivExpr: spec.ModExpr, spec.ModExpr: spec.DivExpr,
}

// exprChanges returns an expression off by one, with another operator or variable, with one branch only, or with an
// operand changed.
func exprChanges(e spec.Expr) []change[spec.Expr] {
	if e.IsAbsent() {
		return nil
	}
	one := spec.Int(1)
	all := []change[spec.Expr]{{spec.Add(e, one), "one more", ""}, {spec.Sub(e, one), "one less", ""}}
	if other, ok := others[e.Kind]; ok {
		all = append(all, change[spec.Expr]{spec.Expr{Kind: other, Args: e.Args}, "another operator", ""})
	}
	switch {
	case e.Kind == spec.Variable && e.Name != spec.Rank.Name:
		all = append(all, change[spec.Expr]{spec.Rank, "the rank instead", ""})
	case e.Kind == spec.Variable:
		all = append(all, change[spec.Expr]{spec.Int(0), "rank 0 instead", ""})
	case e.Kind == spec.CondExpr:
		all = append(all, change[spec.Expr]{e.Args[1], "always the first of two", ""},
			change[spec.Expr]{e.Args[2], "never the first of two", ""})
	}
	for i := range all {
		all[i].what = e.String()
	}
	for i, a := range e.Args {
		for _, c := range exprChanges(a) {
			args := slices.Clone(e.Args)
			args[i] = c.is
			all = append(all, change[spec.Expr]{spec.Expr{Kind: e.Kind, Args: args}, c.operator, c.what})
		}
	}
	return all
}
