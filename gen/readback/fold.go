package readback

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// state is a number that a fold works out. It is known by its name, which Go's variable has, too.
type state struct {
	name        string
	first, next term
}

// stateOf returns what a number of a fold inside so many loops and folds is before a turn.
func stateOf(t *terms, name string, loops int) term {
	return t.make(node{op: "state", name: name, n: loops})
}

// turn returns the turn of a loop inside so many others.
func turn(t *terms, loops int) term { return t.name(fmt.Sprintf("turn%d", loops)) }

// fold adds the numbers of a fold to what names mean.
func (m *meaning) fold(n gen.Fold) {
	turns, inner := m.value(n.N), m.inside()
	inner.vars[n.Var] = turn(m.terms, m.loops)
	inner.loops++
	var list []state
	for _, x := range n.State {
		list = append(list, state{name: x.Name, first: m.value(x.First)})
		inner.vars[x.Name] = stateOf(m.terms, x.Name, m.loops)
	}
	inner.names(n.Body)
	when := inner.holds(n.When.OrElse(spec.Int(1)))
	for i, x := range n.State {
		list[i].next = m.choice(when, inner.value(x.Next), inner.vars[x.Name])
	}
	for _, x := range list {
		m.vars[x.name] = m.afterTurns(x.name, turns, list, m.loops)
	}
}

// names adds the names that the body of a fold gives.
func (m *meaning) names(nodes []gen.Node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.Let:
			m.vars[n.Name] = m.expr(n.Is)
		case gen.Fold:
			m.fold(n)
		default:
			refuse("%T is inside a Fold", n)
		}
	}
}

// afterTurns returns the number of that name after all turns of a fold, which stands inside so many loops and folds. It
// mentions only those of the numbers on which that one depends, so that others make no difference.
func (t *terms) afterTurns(name string, turns term, list []state, loops int) term {
	needed := map[string]bool{}
	t.need(name, list, loops, needed)
	x := node{op: "fold", n: loops, args: []term{turns}}
	var names []string
	byName := func(x, y state) int { return strings.Compare(x.name, y.name) }
	for _, s := range slices.SortedFunc(slices.Values(list), byName) {
		if needed[s.name] {
			names, x.args = append(names, s.name), append(x.args, s.first, s.next)
		}
	}
	x.name = fmt.Sprint(" ", name, " of ", names)
	return t.make(x)
}

// need notes which of the numbers of a fold the one of that name depends on, itself included.
func (t *terms) need(name string, list []state, loops int, needed map[string]bool) {
	if needed[name] {
		return
	}
	needed[name] = true
	i := slices.IndexFunc(list, func(s state) bool { return s.name == name })
	if i < 0 {
		refuse("%s is no number of this fold", name)
	}
	for _, other := range t.states(list[i].next, loops, map[term]bool{}) {
		t.need(other, list, loops, needed)
	}
}

// states returns the names of the numbers of a fold inside so many loops and folds that x mentions. Those of another
// one inside as many, which came to its end before, are its own.
func (t *terms) states(x term, loops int, seen map[term]bool) (names []string) {
	if seen[x] {
		return nil
	}
	seen[x] = true
	n := t.nodes[x]
	switch {
	case n.op == "state" && n.n == loops:
		return []string{n.name}
	case n.op == "fold" && n.n == loops:
		names = t.states(n.args[0], loops, seen)
		for i := 1; i < len(n.args); i += 2 {
			names = append(names, t.states(n.args[i], loops, seen)...)
		}
		return names
	}
	for _, arg := range n.args {
		names = append(names, t.states(arg, loops, seen)...)
	}
	return names
}
