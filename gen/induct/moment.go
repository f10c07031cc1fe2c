package induct

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
)

// moment is what ranks do at once: the step, or the steps of different ranks.
type moment struct {
	steps        []*step
	sends, recvs []*action
}

// step is a Step at its place.
type step struct {
	at    path
	key   string
	state state  // before it
	head  string // the variable of the loop whose invariant says what state is
	sends []*action
	recvs []*action
	skews map[string]expr // by the variable of a loop around it
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

// action is an action of a step. It stands on the way inner inside the step.
type action struct {
	node   gen.Node
	index  int
	step   *step
	inner  path
	turns  gen.Turns // of the loop inside the step
	before state     // of a Reduce
	pair   int       // how many messages its moment has sent, or received, before it
}

func hasMessages(n gen.Node) bool {
	return anyNode(n, func(n gen.Node) bool {
		switch n.(type) {
		case gen.Send, gen.Recv, gen.RecvReduce:
			return true
		}
		return false
	})
}

func hasSteps(n gen.Node) bool {
	return anyNode(n, func(n gen.Node) bool {
		_, ok := n.(gen.Step)
		return ok
	})
}

// anyNode reports whether f holds for n or a node inside it.
func anyNode(n gen.Node, f func(gen.Node) bool) bool {
	if f(n) {
		return true
	}
	var inside []gen.Node
	switch n := n.(type) {
	case gen.For:
		inside = n.Body
	case gen.If:
		inside = append(n.Then[:len(n.Then):len(n.Then)], n.Else...)
	case gen.Step:
		inside = n
	}
	for _, n := range inside {
		if anyNode(n, f) {
			return true
		}
	}
	return false
}
