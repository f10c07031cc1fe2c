package induct

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// body goes through nodes, which stand at the end of p. What it returns is the state after them; its frames are at p.
func (w *walker) body(nodes []gen.Node, p path, key string, s state, skews map[string]expr) state {
	at, position := p, -1
	var before []int // the actions of the node before
	for _, n := range nodes {
		first := w.action
		k, begin, takesTurn := key, first, false
		if hasMessages(n) {
			actions := []int{first, first + gen.CountActions([]gen.Node{n})}
			if takesTurn = position >= 0 && w.together(before, actions); takesTurn {
				begin = before[0]
			} else {
				position++
			}
			before = actions
			k = fmt.Sprintf("%s%03d.", key, position)
		} else if hasSteps(n) {
			before = nil
		}
		switch n := n.(type) {
		case gen.Let, gen.LetBuf:
			w.defined(n, at)
			at = at.with(link{node: n})
		case gen.If:
			s = w.branch(n, at, len(p), k, s, skews)
		case gen.For:
			s = w.forLoop(n, at, len(p), k, s, skews)
		case gen.Step:
			s = w.step(n, at, len(p), k, s, skews)
		}
		if takesTurn {
			w.oneMoment(k, begin, w.action)
		}
	}
	return s
}

// from returns s, whose frames are at p, for frames that are at a place k links into it.
func (s state) from(p path, k int) state {
	rest := p[k:]
	if len(rest) == 0 {
		return s
	}
	return func(f *frame, buf spec.Buf, cell expr) value { return s(f.follow(rest, nil), buf, cell) }
}

func (w *walker) branch(n gen.If, at path, k int, key string, s state, skews map[string]expr) state {
	then := w.body(n.Then, at.with(link{n, true}), key, s, skews)
	els := w.body(n.Else, at.with(link{n, false}), key, s, skews)
	w.defined(n, at)
	join := state(func(f *frame, buf spec.Buf, cell expr) value {
		c := f.eval(n.Cond)
		return either(c, then(f, buf, cell), els(f, buf, cell))
	})
	return join.from(at, k)
}

// together reports whether two sibling nodes, each given by its first action and the one after its last, belong to one
// moment.
func (w *walker) together(a, b []int) bool {
	for _, t := range w.hints.Together {
		if a != nil && a[0] <= t[0] && t[0] < a[1] && b[0] <= t[1] && t[1] < b[1] {
			return true
		}
	}
	return false
}

// oneMoment refuses sibling nodes that take turns, which have the actions from..to-1 and the key k, unless all that
// they send and receive is of one moment, and no loop is in one of them. Otherwise a rank could have a part in both, at
// moments that are not in the order of its steps: the turns of two loops, one after the other, are at the same moments.
func (w *walker) oneMoment(k string, from, to int) {
	var first *step
	for _, key := range w.keys {
		for _, st := range w.moments[key].steps {
			x := append(st.sends[:len(st.sends):len(st.sends)], st.recvs...)[0]
			if x.index < from || to <= x.index {
				continue
			}
			if strings.Contains(key[len(k):], "@") {
				panic(unsupported{fmt.Sprintf("action %d takes turns with another node in a loop of its own", x.index)})
			}
			if first != nil && key != first.key {
				panic(unsupported{fmt.Sprintf("action %d takes turns with a node that has several moments", x.index)})
			}
			first = st
		}
	}
}
