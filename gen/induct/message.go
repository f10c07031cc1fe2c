package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// join adds a step to its moment.
func (w *walker) join(st *step) {
	m := w.moments[st.key]
	if m == nil {
		m = &moment{}
		w.moments[st.key] = m
		w.keys = append(w.keys, st.key)
	}
	m.steps = append(m.steps, st)
	m.sends = m.pair(m.sends, st.sends)
	m.recvs = m.pair(m.recvs, st.recvs)
}

// pair returns list with the messages that a step of the moment sends, or receives. Several of them are of one step,
// and not in a loop there: then the first one that a rank sends to another is the first that this one receives from it,
// and so on.
func (m *moment) pair(list, more []*action) []*action {
	for _, x := range more {
		x.pair = len(list)
		list = append(list, x)
	}
	if len(list) < 2 {
		return list
	}
	first, last := list[0], list[len(list)-1]
	for _, x := range list {
		if _, inLoop := x.turn(); inLoop || x.step != m.steps[0] {
			panic(unsupported{fmt.Sprintf("actions %d and %d are of one moment, and not of one step outside of its loops",
				first.index, last.index)})
		}
	}
	return list
}

// partner returns the action at the other end of x.
func (w *walker) partner(x *action) *action {
	m := w.moments[x.step.key]
	others := m.sends
	if _, ok := x.node.(gen.Send); ok {
		others = m.recvs
	}
	if x.pair >= len(others) {
		panic(unsupported{fmt.Sprintf("action %d has no partner at its moment", x.index)})
	}
	return others[x.pair]
}

// across returns the peer of f, which is at x, at the other end of the message. The turns of its loops follow from
// those of f.
func (w *walker) across(x *action, f *frame, label string) *frame {
	y := w.partner(x)
	peer := f.c.name("peer"+label, f.eval(x.peer()))
	g := f.c.frame(peer, label)
	mine, theirs := x.step.at.loops(), y.step.at.loops()
	if len(mine) != len(theirs) {
		panic(unsupported{fmt.Sprintf("actions %d and %d stand in different loops", x.index, y.index)})
	}
	loop := 0
	for i, l := range y.step.at {
		turns := map[string]expr{}
		if n, ok := l.node.(gen.For); ok {
			turn := f.vars[mine[loop].Var]
			if s := x.step.skews[mine[loop].Var]; !s.IsAbsent() {
				turn = add(turn, sub(f.eval(s), g.eval(y.step.skews[n.Var])))
			}
			turns[n.Var] = f.c.name(n.Var+label, turn)
			loop++
		}
		g = g.follow(y.step.at[i:i+1], turns)
	}
	turns := map[string]expr{}
	if n, ok := y.turn(); ok {
		turns[n.Var] = y.turnOf(g, y.member(g, f.rank()))
	}
	return g.follow(y.inner, turns)
}

// from is a message on its way: its sender, at the send.
type from struct {
	w    *walker
	send *action
	f    *frame
}

// sender returns whom the receive x of f gets its message from.
func (w *walker) sender(x *action, f *frame) from {
	return from{w, w.partner(x), w.across(x, f, "_peer")}
}

// value returns the cell of the message that is so many cells after the first.
func (m from) value(offset expr) value {
	data := m.send.node.(gen.Send).Data
	r := m.f.region(data)
	return m.send.step.state.read(m.f, data.Buf, m.f.c.name("cell_peer", add(r.at, offset))).as(m.f, "_peer")
}

// told reports whether the sender knows that a rank has entered.
func (m from) told(rank expr) expr { return m.send.step.state(m.f, gen.Heard, rank).known }
