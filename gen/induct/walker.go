package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

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
