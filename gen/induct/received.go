package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// turnOf returns the turn of the loop inside a step in which a message goes to that member of its group, or comes from
// it: that of the loops over all others, nearest first. That it is the turn is shown by the obligation distinct.
func (x *action) turnOf(f *frame, member expr) expr {
	own := x.member(f, f.rank())
	if turn := x.turns.Turn; !turn.IsAbsent() {
		from, to := member, own
		if _, ok := x.node.(gen.Send); ok {
			from, to = own, member
		}
		return f.c.name("t"+f.label, f.bind(spec.Rank.Name, from).bind(spec.Peer.Name, to).eval(turn))
	}
	d := sub(sub(own, member), one)
	if _, ok := x.node.(gen.Send); ok {
		d = sub(sub(member, own), one)
	}
	return f.c.name("t"+f.label, cond(lt(d, zero), add(d, f.orElse(x.turns.N, spec.Size)), d))
}

// member returns the number of a rank in the group that the loop inside a step goes to.
func (x *action) member(f *frame, rank expr) expr {
	return f.c.name("member"+f.label, f.bind(spec.Rank.Name, rank).eval(x.turns.Member.OrElse(spec.Rank)))
}

// source returns the member of the group from which a cell is received.
func (x *action) source(f *frame, cell expr) expr {
	return f.c.name("source"+f.label, f.bind(gen.Cell.Name, cell).eval(x.turns.Of.OrElse(gen.Cell)))
}

// received returns the state after a receive.
func (w *walker) received(x *action, s state) state {
	return func(f *frame, buf spec.Buf, cell expr) value {
		f = f.follow(x.step.at, nil)
		turns := map[string]expr{}
		if loop, ok := x.turn(); ok {
			turns[loop.Var] = x.turnOf(f, x.source(f, x.ownCell(f, buf, cell))) // see distinct
		}
		g := f.follow(x.inner, turns)
		hit := and(g.guard[len(f.guard):]...)
		old := s(f, buf, cell)
		sender := w.sender(x, g)
		if buf == gen.Heard {
			told := sender.told(cell)
			return heard(or(old.known, and(hit, told)))
		}
		into := x.data()
		if isNothing(into) || buf == spec.In && !f.c.o.InPlace {
			return old
		}
		r := g.region(into)
		inside, offset := r.where(g, buf, cell)
		if hit = and(hit, inside); is(hit, 0) {
			return old
		}
		got := sender.value(offset)
		if n, ok := x.node.(gen.RecvReduce); ok {
			got = w.reduced(g, n, x.step.state, offset, got).value
		}
		got.lent = isLent(x.node)
		return either(f.c.name("hit", hit), got, old).as(f, "")
	}
}

// ownCell returns the cell of the buffer that x writes as which it sees that cell of buf.
func (x *action) ownCell(f *frame, buf spec.Buf, cell expr) expr {
	into := written(x.node)
	if isNothing(into) || buf == gen.Heard {
		return cell
	}
	cases := f.cases(into.Buf)
	if len(cases) > 1 {
		panic(unsupported{fmt.Sprintf("action %d stands in a loop inside of a step and writes to one of several buffers",
			x.index)})
	}
	own, _ := f.seen(buf, cell, cases[0].buf)
	return own
}
