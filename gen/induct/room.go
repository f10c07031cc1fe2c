package induct

import "github.com/collgen/collgen/gen"

// Follows reports whether an algorithm has a receive AfterSend.
func Follows(a *gen.Algorithm) bool { return anyNode(gen.Step(a.Body), afterSend) }

// follows derives that an AfterSend receive has exactly one send to follow. The argument that one segment of buffer is
// enough relies on it.
func (w *walker) follows(x *action) {
	if !afterSend(x.node) {
		return
	}
	w.once("room", "its step sends one message, as long, and no other to the rank that it comes from", x.index,
		func(c *context) {
			f := w.anywhere(c, x.step.at)
			g := w.turned(c, f, x.inner)
			c.given(g.moves(x.data()))
			one, several, same := no, no, no
			for _, y := range x.step.sends {
				hit, long := y.goesTo(f, g.eval(x.peer()), g, x.data())
				one, several, same = or(one, hit), or(several, and(one, hit)), or(same, and(hit, long))
			}
			c.want(Part{"a send as long", same}, Part{"no other send", not(several)})
		})
}

// goesTo reports whether the send x, of a step at whose place f is, goes to a rank, and whether it is as long as q is
// at g. In a loop, no more than one does: see distinct.
func (x *action) goesTo(f *frame, peer expr, g *frame, q gen.Region) (hit, long expr) {
	turns := map[string]expr{}
	if loop, ok := x.turn(); ok {
		turns[loop.Var] = x.turnOf(f, peer)
	}
	h := f.follow(x.inner, turns)
	hit = f.c.name("goes", and(append(h.guard[len(f.guard):], eq(h.eval(x.peer()), peer), h.moves(x.data()))...))
	long = yes
	for _, part := range equallyLong(h, x.data(), g, q) {
		long = and(long, part.Is)
	}
	return hit, long
}

// moves reports whether there is a message of r: none is of a region of no chunks.
func (f *frame) moves(r gen.Region) expr {
	if isNothing(r) {
		return yes
	}
	return le(one, f.orElse(r.N, one))
}
