package induct

import "github.com/collgen/collgen/gen"

// Follows tells whether an algorithm has a receive AfterSend.
func Follows(a *gen.Algorithm) bool { return anyNode(gen.Step(a.Body), afterSend) }

// follows derives that a receive AfterSend has one send to follow: so does the argument need it that no channel needs room for
// more than a segment.
func (w *walker) follows(x *action) {
	if !afterSend(x.node) {
		return
	}
	w.once("room", "its step sends one message, and no other, to the rank that it comes from", x.index, func(c *context) {
		f := w.anywhere(c, x.step.at)
		g := w.turned(c, f, x.inner)
		c.given(g.moves(x.data()))
		one, several := no, no
		for _, y := range x.step.sends {
			hit := y.goesTo(f, g.eval(x.peer()))
			one, several = or(one, hit), or(several, and(one, hit))
		}
		c.o.Goal = and(one, not(several))
	})
}

// goesTo tells whether the send x, of a step at whose place f is, goes to a rank. In a loop, no more than one does: see distinct.
func (x *action) goesTo(f *frame, peer expr) expr {
	turns := map[string]expr{}
	if loop, ok := x.turn(); ok {
		turns[loop.Var] = x.turnOf(f, peer)
	}
	g := f.follow(x.inner, turns)
	return f.c.name("goes", and(append(g.guard[len(f.guard):], eq(g.eval(x.peer()), peer), g.moves(x.data()))...))
}

// moves tells whether there is a message of r: none is of a region of no chunks.
func (f *frame) moves(r gen.Region) expr {
	if isNothing(r) {
		return yes
	}
	return le(one, f.orElse(r.N, one))
}
