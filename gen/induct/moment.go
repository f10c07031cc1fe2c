package induct

import (
	"fmt"

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

// place returns where the action stands.
func (x *action) place() path { return append(x.step.at[:len(x.step.at):len(x.step.at)], x.inner...) }

// turn returns the loop around the action inside the step, if there is one.
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

// peer returns whom a message goes to, or comes from.
func (x *action) peer() expr {
	peer, _ := ends(x.node)
	return peer
}

// side returns which end of a message x is.
func (x *action) side() string {
	if _, ok := x.node.(gen.Send); ok {
		return "a send"
	}
	return "a receive"
}

// data returns the region of a message.
func (x *action) data() gen.Region {
	_, data := ends(x.node)
	return data
}

// ends returns the other rank of a message and the region on this one.
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

func isLent(n gen.Node) expr {
	switch n := n.(type) {
	case gen.Recv:
		return truth(n.Lend)
	case gen.Copy:
		return truth(n.Lend)
	}
	return no
}

// written returns the region that an action writes.
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
