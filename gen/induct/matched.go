package induct

import (
	"github.com/collgen/collgen/gen"
)

// messages derives what has to hold of the messages of all moments.
func (w *walker) messages() {
	for _, key := range w.keys {
		m := w.moments[key]
		for i, st := range m.steps {
			w.head = st.head
			w.exclusive(st, m.steps[:i])
			for _, x := range st.sends {
				w.matched(x)
				w.distinct(x)
				w.sent(x)
			}
			for i, x := range st.recvs {
				w.matched(x)
				w.distinct(x)
				w.apart(x)
				w.follows(x)
				for _, y := range st.recvs[:i] {
					w.noRace(x, y)
					w.noRace(y, x)
				}
			}
		}
	}
}

// matched derives that the message of x has another end, which is as long and has this rank for its peer.
func (w *walker) matched(x *action) {
	says := "the rank that it comes from sends it at this moment, to this rank, and as long"
	if _, ok := x.node.(gen.Send); ok {
		says = "the rank that it goes to receives it at this moment, from this rank, and as long"
	}
	w.once("matched", says, x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		y := w.partner(x)
		g := w.across(x, f, "_peer")
		var parts []Part
		for _, e := range g.guard {
			parts = append(parts, Part{"the peer comes there", e})
		}
		parts = append(parts, Part{"its peer is this rank", eq(g.eval(y.peer()), f.rank())})
		c.want(of(x.side(), append(parts, equallyLong(f, x.data(), g, y.data())...))...)
	})
}

// equallyLong says that two regions have as many chunks, of the same lengths.
func equallyLong(f *frame, r gen.Region, g *frame, q gen.Region) []Part {
	if isNothing(r) || isNothing(q) {
		return []Part{{"data", truth(isNothing(r) && isNothing(q))}}
	}
	cells := Part{"as many cells", eq(f.orElse(r.N, one), g.orElse(q.N, one))}
	a := f.c.a
	if a.Primitive.IsUneven() {
		return append([]Part{cells}, asLong("as long a block", f.countsOf(r), g.countsOf(q))...)
	}
	if a.Chunks.IsAbsent() || is(a.Chunks, 1) {
		return []Part{cells}
	}
	if !is(a.Primitive.In.Blocks, 1) && !a.Primitive.In.Blocks.IsAbsent() || !is(a.Primitive.Out.Blocks, 1) &&
		!a.Primitive.Out.Blocks.IsAbsent() {
		panic(unsupported{"several blocks of several chunks"})
	}
	return []Part{cells, {"as long a chunk", eq(f.eval(r.Like.OrElse(r.At)), g.eval(q.Like.OrElse(q.At)))}}
}

// distinct derives that the messages of a loop inside a step have peers, and cells, of their own: from a peer, and
// from a cell, follows the turn.
func (w *walker) distinct(x *action) {
	loop, ok := x.turn()
	if !ok {
		return
	}
	w.once("distinct", "in each turn of the loop in the step the peer is another one, which says where received data go",
		x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			turn := f.vars[loop.Var]
			c.want(Part{x.side() + ": the turn of the peer", eq(x.turnOf(f, x.member(f, f.eval(x.peer()))), turn)})
			if into := written(x.node); !isNothing(into) {
				cell := add(f.region(into).at, f.anyOffset(into))
				c.want(Part{"the turn of the cell", eq(x.turnOf(f, x.source(f, cell)), turn)})
			}
		})
}

// exclusive derives that no rank has a part in two steps of one moment, unless they are the branches of an If.
func (w *walker) exclusive(st *step, others []*step) {
	for _, other := range others {
		if branches(st.at, other.at) {
			continue
		}
		x := append(st.sends[:len(st.sends):len(st.sends)], st.recvs...)[0]
		w.once("exclusive", "no rank has a part in two steps of one moment", x.index, func(c *context) {
			f := w.anywhere(c, st.at)
			turns := map[string]expr{}
			for _, l := range st.at.loops() {
				turns[l.Var] = f.vars[l.Var]
			}
			c.want(Part{"one step", not(and(c.frame(f.rank(), "_other").follow(other.at, turns).guard...))})
		})
	}
}

// branches reports whether p and q go through different branches of an If.
func branches(p, q path) bool {
	for i := range min(len(p), len(q)) {
		a, isIf := p[i].node.(gen.If)
		b, both := q[i].node.(gen.If)
		if isIf && both && p[i].holds != q[i].holds {
			return a.Cond.String() == b.Cond.String()
		}
	}
	return false
}

// sent derives that what is sent is known.
func (w *walker) sent(x *action) {
	data := x.data()
	if isNothing(data) {
		return
	}
	w.oblige("sent", "what is sent is known, by what holds before the step", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		cell := c.name("cell", add(f.region(data).at, f.anyOffset(data)))
		v := x.step.state.read(f, data.Buf, cell)
		f.needs(data.Buf, cell, v)
		c.want(Part{"known", v.known})
		c.want(f.readAsWritten(data, v)...)
	})
}
