package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// unsupported is why no obligations can be derived from an algorithm. It is panicked with inside this package.
type unsupported struct{ reason string }

func (u unsupported) Error() string { return u.reason }

// Obligations returns what has to hold so that a keeps its promise with any number of ranks and any root, peer and
// depth, out of place and, where it may be called so, in place. Its error says what in a, or in the hints, this package
// has no argument for.
func Obligations(a *gen.Algorithm, h gen.Hints) (list []Obligation, err error) {
	defer func() {
		if u, ok := recover().(unsupported); ok {
			err = fmt.Errorf("%s: %w", a.FullName(), u)
		}
	}()
	if err := gen.Fits(*a); err != nil {
		return nil, err
	}
	modes := []bool{false}
	if !a.Primitive.InPlace.InBlock.IsAbsent() && !a.Requires.OutOfPlace {
		modes = append(modes, true)
	}
	for _, inPlace := range modes {
		w := &walker{a: a, hints: h, inPlace: inPlace, moments: map[string]*moment{}}
		w.algorithm()
		list = append(list, w.list...)
	}
	return list, nil
}

// walker goes through an algorithm in source order and derives its obligations.
type walker struct {
	a       *gen.Algorithm
	hints   gen.Hints
	inPlace bool

	loop    int    // index of the next loop with steps in it
	head    string // the variable of the last loop whose invariant says what memory holds
	action  int    // index of the next action
	inner   int    // index of the next loop inside a step
	moments map[string]*moment
	keys    []string  // of the moments, in their order
	reduces []*action // all RecvReduce and Reduce
	later   []func()  // makes obligations, when all moments are known
	list    []Obligation
}

func (w *walker) algorithm() {
	w.once("chunks", "a block has a chunk, and there is no negative number of slots", -1, func(c *context) {
		f := c.frame(w.anyRank(c), "")
		c.want(Part{"the number of chunks has a value", f.hasValue(w.a.Chunks)}, Part{"the number of slots has a value",
			f.hasValue(w.a.Scratch)},
			Part{"a chunk", le(one, f.chunks())}, Part{"no negative number of slots", le(zero, f.length(spec.Scratch))})
	})
	end := w.body(w.a.Body, nil, "", initial, map[string]expr{})
	if w.loop < len(w.hints.Loops) {
		panic(unsupported{fmt.Sprintf("there are invariants of %d loops, and only %d loops", len(w.hints.Loops), w.loop)})
	}
	if w.inner < len(w.hints.Turns) {
		panic(unsupported{fmt.Sprintf("there are turns of %d loops inside of steps, and only %d such loops",
			len(w.hints.Turns), w.inner)})
	}
	w.post(end)
	w.messages()
	w.trees()
	for _, f := range w.later {
		f()
	}
}

// oblige adds an obligation, which make completes.
func (w *walker) oblige(name, says string, action int, make func(*context)) {
	o := Obligation{Name: name, Says: says, Action: action, InPlace: w.inPlace, Loop: w.head, Goal: yes}
	w.later = append(w.later, func() {
		make(newContext(w.a, &o))
		if is(o.Goal, 1) {
			return
		}
		o.prune()
		w.list = append(w.list, o)
	})
}

// once adds an obligation in which it makes no difference whether the call is in place.
func (w *walker) once(name, says string, action int, make func(*context)) {
	if !w.inPlace {
		w.oblige(name, says, action, make)
	}
}

func (w *walker) anyRank(c *context) expr { return c.variable("rank", zero, spec.Size) }

// anywhere is any rank that comes to the place p, in any turn.
func (w *walker) anywhere(c *context, p path) *frame {
	f := c.frame(w.anyRank(c), "")
	return w.turned(c, f, p)
}

// turned returns f after p, in any turn of the loops there.
func (w *walker) turned(c *context, f *frame, p path) *frame {
	before := len(f.guard)
	for i, l := range p {
		turns := map[string]expr{}
		if loop, ok := l.node.(gen.For); ok {
			turns[loop.Var] = c.variable(loop.Var, zero, f.eval(loop.N))
		}
		f = f.follow(p[i:i+1], turns)
	}
	c.given(f.guard[before:]...)
	return f
}
