package induct

import (
	"fmt"

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
