package induct

import (
	"github.com/collgen/collgen/gen"
)

// step derives what has to hold of a Step. Its messages are in flight together; then its local actions are done in
// order.
func (w *walker) step(n gen.Step, at path, k int, key string, s state, skews map[string]expr) state {
	st := &step{at: at, key: key, state: s, head: w.head, skews: skews}
	var local []*action
	w.actions(st, n, nil, gen.Turns{}, &local)
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
func (w *walker) actions(st *step, nodes []gen.Node, inner path, turns gen.Turns, local *[]*action) {
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.Let, gen.LetBuf:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			inner = inner.with(link{node: n})
		case gen.For:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			w.actions(st, n.Body, inner.with(link{node: n}), w.turns(), local)
		case gen.If:
			w.defined(n, append(st.at[:len(st.at):len(st.at)], inner...))
			w.actions(st, n.Then, inner.with(link{n, true}), turns, local)
			w.actions(st, n.Else, inner.with(link{n, false}), turns, local)
		default:
			x := &action{node: n, index: w.action, step: st, inner: inner, turns: turns}
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

// turns returns the hint of the next loop inside a step.
func (w *walker) turns() (t gen.Turns) {
	if w.inner < len(w.hints.Turns) {
		t = w.hints.Turns[w.inner]
	}
	w.inner++
	return t
}
