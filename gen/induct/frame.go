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

// loops are the loops on the way.
func (p path) loops() (list []gen.For) {
	for _, l := range p {
		if f, ok := l.node.(gen.For); ok {
			list = append(list, f)
		}
	}
	return list
}

// context is an obligation in the making. What is evaluated in it gets a name there, once.
type context struct {
	a     *gen.Algorithm
	o     *Obligation
	names map[string]expr // by the text of what is named
	truth map[string]bool // whether a name is a condition's
	taken map[string]bool
}

func newContext(a *gen.Algorithm, o *Obligation) *context {
	c := &context{a: a, o: o, names: map[string]expr{}, truth: map[string]bool{}, taken: map[string]bool{}}
	c.variable("size", one, expr{})
	c.variable("depth", one, expr{})
	for _, p := range a.Primitive.Params {
		if p != spec.ParamOp {
			c.variable(string(p), zero, spec.Size)
		}
	}
	if !a.Requires.Size.IsAbsent() {
		c.given(c.frame(zero, "").eval(a.Requires.Size))
	}
	for _, e := range a.Primitive.Errors {
		c.given(not(c.frame(zero, "").eval(e.When)))
	}
	return c
}

func (c *context) given(list ...expr) {
	for _, e := range list {
		if !is(e, 1) {
			c.o.Given = append(c.o.Given, e)
		}
	}
}

// variable is a new variable, in min..max-1.
func (c *context) variable(name string, min, max expr) expr {
	name = c.free(name)
	c.o.Names = append(c.o.Names, Name{Name: name, Min: min, Max: max})
	return spec.Var(name)
}

// free is name, or one like it that is not taken.
func (c *context) free(name string) string {
	unique := name
	for i := 2; c.taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	c.taken[unique] = true
	return unique
}

// name is e, by a name unless it is as short as one.
func (c *context) name(as string, e expr) expr {
	if len(e.Args) == 0 {
		return e
	}
	text := e.String()
	if v, ok := c.names[text]; ok {
		return v
	}
	v := spec.Var(c.free(as))
	c.names[text], c.truth[v.Name] = v, isTruth(e, c.truth)
	c.o.Names = append(c.o.Names, Name{Name: v.Name, Is: e, Truth: c.truth[v.Name]})
	return v
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

// frame is a rank at the start of the body.
func (c *context) frame(rank expr, label string) *frame {
	f := &frame{c: c, label: label, vars: map[string]expr{spec.Rank.Name: rank}, bufs: map[spec.Buf]pick{}}
	for _, v := range []expr{spec.Size, spec.Root, spec.Peer, spec.Depth} {
		f.vars[v.Name] = v
	}
	return f
}

func (f *frame) rank() expr { return f.vars[spec.Rank.Name] }

// bind is f with one more variable.
func (f *frame) bind(name string, is expr) *frame {
	g := *f
	g.vars = maps.Clone(f.vars)
	g.vars[name] = is
	return &g
}

// follow is f after p, with the turns of the loops in p.
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

// eval is e with the values of what it speaks of.
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

// product is x × y. Products of two unknowns are named, of which a solver is told little: a constant in a sum is taken out.
func (f *frame) product(x, y expr) expr {
	if x.Kind == spec.Const || y.Kind == spec.Const {
		return mul(x, y)
	}
	if (x.Kind == spec.AddExpr || x.Kind == spec.SubExpr) && x.Args[1].Kind == spec.Const {
		return build(x.Kind, []expr{f.product(x.Args[0], y), f.product(x.Args[1], y)})
	}
	return f.c.name("product", mul(x, y))
}

// orElse evaluates e, or is otherwise where e is absent.
func (f *frame) orElse(e, otherwise expr) expr {
	if e.IsAbsent() {
		return otherwise
	}
	return f.eval(e)
}

// on tells whether this rank passes buf.
func (f *frame) on(buf spec.Buf) expr {
	b, ok := f.c.buffer(buf)
	if !ok {
		return yes
	}
	if b.Blocks.IsAbsent() {
		return no
	}
	return f.orElse(b.On, yes)
}

func (c *context) buffer(buf spec.Buf) (spec.Buffer, bool) {
	switch buf {
	case spec.In:
		return c.a.Primitive.In, true
	case spec.Out:
		return c.a.Primitive.Out, true
	}
	return spec.Buffer{}, false
}

// length is how many cells buf has on this rank, if it passes it.
func (f *frame) length(buf spec.Buf) expr {
	switch b, ok := f.c.buffer(buf); {
	case ok && b.Blocks.IsAbsent():
		return zero
	case ok:
		return f.product(f.eval(b.Blocks), f.chunks())
	case buf == Heard:
		return spec.Size
	}
	return f.orElse(f.c.a.Scratch, zero)
}

func (f *frame) chunks() expr { return f.orElse(f.c.a.Chunks, one) }

// shift is how many cells after the start of Out In starts, in place.
func (f *frame) shift() expr {
	p := f.c.a.Primitive.InPlace
	return f.product(sub(f.eval(p.OutBlock), f.eval(p.InBlock)), f.chunks())
}

// shared tells whether In and Out of this rank are one memory.
func (f *frame) shared() expr {
	if !f.c.o.InPlace {
		return no
	}
	return and(f.on(spec.In), f.on(spec.Out))
}
