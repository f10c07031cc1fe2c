package induct

import (
	"github.com/collgen/collgen/gen"
)

// moment is what ranks do at once: the step, or the steps of different ranks.
type moment struct {
	steps []*step
	send  *action
	recv  *action
}

// step is a Step at its place.
type step struct {
	at    path
	key   string
	state state // before it
	sends []*action
	recvs []*action
	skews map[string]expr // by the variable of a loop around it
}

// action is an action of a step. It stands on the way inner inside of the step.
type action struct {
	node  gen.Node
	index int
	step  *step
	inner path
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

// anyNode tells whether f holds for n or a node inside of it.
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
