package induct

import (
	"fmt"
	"maps"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// link is one thing on the way from the start of the body to a place in it: a Let, a LetBuf, a For, or an If.
type link struct {
	node  gen.Node
	holds bool // of an If: whether the way goes through Then
}

type path []link

func (p path) with(l link) path { return append(p[:len(p):len(p)], l) }

// loops returns the loops on the way.
func (p path) loops() (list []gen.For) {
	for _, l := range p {
		if f, ok := l.node.(gen.For); ok {
			list = append(list, f)
		}
	}
	return list
}

// frame is a rank at a place of the program, with the values of what is in scope there.
type frame struct {
	c     *context
	label string // what tells its names from those of other frames
	vars  map[string]expr
	bufs  map[spec.Buf]pick
	guard []expr // what holds where the rank comes to this place
}

// pick is what a LetBuf names.
type pick struct {
	cond      expr
	then, els spec.Buf
}

// frame returns a rank at the start of the body.
func (c *context) frame(rank expr, label string) *frame {
	f := &frame{c: c, label: label, vars: map[string]expr{spec.Rank.Name: rank}, bufs: map[spec.Buf]pick{}}
	for _, v := range gen.Variables {
		if v.Name != spec.Rank.Name {
			f.vars[v.Name] = v
		}
	}
	if p := c.a.Param; p.Name != "" {
		f.vars[p.Name] = spec.Int(p.Value)
	}
	return f
}

func (f *frame) rank() expr { return f.vars[spec.Rank.Name] }

// bind returns f with one more variable.
func (f *frame) bind(name string, is expr) *frame {
	g := *f
	g.vars = maps.Clone(f.vars)
	g.vars[name] = is
	return &g
}

// follow returns f after p, with the turns of the loops in p.
func (f *frame) follow(p path, turns map[string]expr) *frame {
	g := *f
	g.vars, g.bufs, g.guard = maps.Clone(f.vars), maps.Clone(f.bufs), f.guard[:len(f.guard):len(f.guard)]
	for _, l := range p {
		switch n := l.node.(type) {
		case gen.Let:
			g.vars[n.Name] = f.c.name(n.Name+f.label, g.eval(n.Is))
		case gen.LetBuf:
			g.bufs[n.Name] = pick{g.eval(n.Cond), n.Then, n.Else}
		case gen.For:
			if t, ok := turns[n.Var]; ok {
				g.vars[n.Var] = t
			}
			t := g.vars[n.Var]
			g.guard = append(g.guard, le(zero, t), lt(t, g.eval(n.N)))
		case gen.If:
			c := g.eval(n.Cond)
			if !l.holds {
				c = not(c)
			}
			g.guard = append(g.guard, c)
		}
	}
	return &g
}

// eval returns e with the values of what it mentions.
func (f *frame) eval(e expr) expr {
	switch e.Kind {
	case spec.Const:
		return e
	case spec.Variable:
		v, ok := f.vars[e.Name]
		if !ok {
			panic(unsupported{fmt.Sprintf("%s has no meaning at this place", e.Name)})
		}
		return v
	}
	args := make([]expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = f.eval(a)
	}
	if e.Kind == spec.MulExpr {
		return f.product(args[0], args[1])
	}
	return build(e.Kind, args)
}

// product returns x × y. Products of two unknowns are named, of which a solver is told little: a constant in a sum is
// taken out.
func (f *frame) product(x, y expr) expr {
	if x.Kind == spec.Const || y.Kind == spec.Const {
		return mul(x, y)
	}
	if (x.Kind == spec.AddExpr || x.Kind == spec.SubExpr) && x.Args[1].Kind == spec.Const {
		return build(x.Kind, []expr{f.product(x.Args[0], y), f.product(x.Args[1], y)})
	}
	return f.c.name("product", mul(x, y))
}
