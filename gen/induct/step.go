package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// step derives what has to hold of a Step. Its messages are in flight together; then its local actions are done in order.
func (w *walker) step(n gen.Step, at path, k int, key string, s state, skews map[string]expr) state {
	st := &step{at: at, key: key, state: s, head: w.head, skews: skews}
	var local []*action
	w.actions(st, n, nil, &local)
	if len(st.sends)+len(st.recvs) > 0 {
		w.join(st)
	}
	after := s
	for _, r := range st.recvs {
		w.receive(r)
		after = w.received(r, after)
	}
	for _, x := range local {
		after = w.local(x, after)
	}
	w.loans(local)
	return after.forget().from(at, k)
}

// actions lists the actions of a step.
func (w *walker) actions(st *step, nodes []gen.Node, inner path, local *[]*action) {
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.Let, gen.LetBuf:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			inner = inner.with(link{node: n})
		case gen.For:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			w.actions(st, n.Body, inner.with(link{node: n}), local)
		case gen.If:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			w.actions(st, n.Then, inner.with(link{n, true}), local)
			w.actions(st, n.Else, inner.with(link{n, false}), local)
		default:
			x := &action{node: n, index: w.action, step: st, inner: inner}
			w.action++
			switch n.(type) {
			case gen.Send:
				st.sends = append(st.sends, x)
			case gen.Recv, gen.RecvReduce:
				st.recvs = append(st.recvs, x)
			default:
				*local = append(*local, x)
			}
			w.inBounds(x)
			w.lendsScratch(x)
		}
	}
}

// place is where the action stands.
func (x *action) place() path { return append(x.step.at[:len(x.step.at):len(x.step.at)], x.inner...) }

// turn is the loop around the action inside of the step, if there is one.
func (x *action) turn() (gen.For, bool) {
	loops := x.inner.loops()
	if len(loops) > 1 {
		panic(unsupported{fmt.Sprintf("action %d stands in two loops inside of a step", x.index)})
	}
	if len(loops) == 0 {
		return gen.For{}, false
	}
	return loops[0], true
}

// peer is whom a message goes to, or comes from.
func (x *action) peer() expr {
	peer, _ := ends(x.node)
	return peer
}

// data is the region of a message.
func (x *action) data() gen.Region {
	_, data := ends(x.node)
	return data
}

// ends are the other rank of a message and the region on this one.
func ends(n gen.Node) (peer expr, data gen.Region) {
	switch n := n.(type) {
	case gen.Send:
		return n.To, n.Data
	case gen.Recv:
		return n.From, n.Into
	case gen.RecvReduce:
		return n.From, n.Into
	}
	panic(unsupported{"no message"})
}

func isNothing(r gen.Region) bool { return r.Buf == "" }

// turnOf is the turn of the loop inside of a step in which a message goes to peer, or comes from it: that of the
// loops over all other ranks, nearest first. That it is the turn is shown by the obligation distinct.
func (x *action) turnOf(f *frame, peer expr) expr {
	d := sub(sub(f.rank(), peer), one)
	if _, ok := x.node.(gen.Send); ok {
		d = sub(sub(peer, f.rank()), one)
	}
	return f.c.name("t"+f.label, cond(lt(d, zero), add(d, spec.Size), d))
}

// received is the state after a receive.
func (w *walker) received(x *action, s state) state {
	return func(f *frame, buf spec.Buf, cell expr) value {
		f = f.follow(x.step.at, nil)
		turns := map[string]expr{}
		if loop, ok := x.turn(); ok {
			turns[loop.Var] = x.turnOf(f, x.ownCell(f, buf, cell)) // the cell of each peer has the peer's number: see distinct
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

// ownCell is the cell of the buffer that x writes as which it sees that cell of buf.
func (x *action) ownCell(f *frame, buf spec.Buf, cell expr) expr {
	into := written(x.node)
	if isNothing(into) || buf == gen.Heard {
		return cell
	}
	cases := f.cases(into.Buf)
	if len(cases) > 1 {
		panic(unsupported{fmt.Sprintf("action %d stands in a loop inside of a step and writes to one of several buffers", x.index)})
	}
	own, _ := f.seen(buf, cell, cases[0].buf)
	return own
}

// written is the region that an action writes.
func written(n gen.Node) gen.Region {
	switch n := n.(type) {
	case gen.Recv:
		return n.Into
	case gen.RecvReduce:
		return n.Into
	case gen.Copy:
		return n.Into
	case gen.Reduce:
		return n.Into
	case gen.Finish:
		return n.Data
	}
	return gen.Region{}
}
