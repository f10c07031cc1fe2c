package readback

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// item is one thing that ranks do: a call of the runtime with its arguments, or a loop or a condition with what is in
// it.
type item struct {
	call      string // "Send"; "for" with the number of turns in args, "if" with the condition
	args      []term
	body      []item
	otherwise []item // of an if
}

// The items that are no calls, and the call that carries messages out.
const (
	loop     = "for"
	branch   = "if"
	exchange = "Exchange"
)

// isMessage reports whether a call is part of the next Exchange: the calls that list messages, and the mark of one.
func isMessage(call string) bool {
	switch call {
	case "Send", "Recv", "RecvReduce", "Borrow", "Signal", "Await", "AfterSend":
		return true
	}
	return false
}

// line is a call, or the head of a loop, in normal form.
type line struct {
	indent int // in how many loops it is
	guards []term
	item   // without body and otherwise
}

// normal returns a list of items in normal form.
func (t *terms) normal(list []item) []line {
	list, _ = t.exchanges(t.merged(list), false)
	return t.flat(list, nil, 0)
}

// merged makes one condition of two of which one is all that the other has, and leaves out what is empty.
func (t *terms) merged(list []item) []item {
	var kept []item
	for _, x := range list {
		x.body, x.otherwise = t.merged(x.body), t.merged(x.otherwise)
		switch {
		case x.call == loop && len(x.body) == 0:
			continue
		case x.call == branch:
			kept = append(kept, t.condition(x)...)
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

// condition returns what an if comes to.
func (t *terms) condition(x item) []item {
	c := x.args[0]
	switch {
	case c == t.truth(true):
		return x.body
	case c == t.truth(false):
		return x.otherwise
	case len(x.body) == 0:
		c, x.body, x.otherwise = t.not(c), x.otherwise, nil
	case len(x.otherwise) > 0 && t.is(c, "not"):
		c, x.body, x.otherwise = t.not(c), x.otherwise, x.body
	}
	if len(x.body) == 0 {
		return nil
	}
	if inner := x.body[0]; len(x.body) == 1 && len(x.otherwise) == 0 && inner.call == branch && len(inner.otherwise) == 0 {
		c, x.body = t.and(c, inner.args[0]), inner.body
	}
	x.args = []term{c}
	return []item{x}
}

// exchanges moves an Exchange after a condition into both of its ways, and leaves those out that have no message to
// carry out. Waits reports whether some may have been listed before, and then afterwards.
func (t *terms) exchanges(list []item, waits bool) ([]item, bool) {
	var kept []item
	for i := 0; i < len(list); i++ {
		x := list[i]
		switch {
		case x.call == exchange:
			if !waits {
				continue
			}
			waits = false
		case isMessage(x.call):
			waits = true
		case x.call == loop:
			_, after := t.exchanges(x.body, waits)
			x.body, after = t.exchanges(x.body, waits || after)
			waits = waits || after
		case x.call == branch:
			if i+1 < len(list) && list[i+1].call == exchange {
				i++
				x.body = append(slices.Clone(x.body), list[i])
				x.otherwise = append(slices.Clone(x.otherwise), list[i])
			}
			var then, otherwise bool
			x.body, then = t.exchanges(x.body, waits)
			x.otherwise, otherwise = t.exchanges(x.otherwise, waits)
			waits = then || otherwise
		}
		kept = append(kept, x)
	}
	return kept, waits
}

// flat is items with the conditions in front of each.
func (t *terms) flat(list []item, guards []term, indent int) []line {
	var lines []line
	for _, x := range list {
		switch x.call {
		case branch:
			lines = append(lines, t.flat(x.body, t.guarded(guards, x.args[0]), indent)...)
			lines = append(lines, t.flat(x.otherwise, t.guarded(guards, t.not(x.args[0])), indent)...)
		case loop:
			lines = append(lines, line{indent, guards, item{call: loop, args: x.args}})
			lines = append(lines, t.flat(x.body, nil, indent+1)...)
		default:
			lines = append(lines, line{indent, guards, x})
		}
	}
	return lines
}

// guarded is guards and c: of what c demands, what they do not.
func (t *terms) guarded(guards []term, c term) []term {
	guards = slices.Clone(guards)
	for _, g := range t.conjuncts(c) {
		if !slices.Contains(guards, g) {
			guards = append(guards, g)
		}
	}
	return guards
}

func (t *terms) conjuncts(c term) []term {
	if t.is(c, "and") {
		return t.nodes[c].args
	}
	return []term{c}
}

func (x line) same(y line) bool {
	return x.indent == y.indent && slices.Equal(x.guards, y.guards) && x.call == y.call && slices.Equal(x.args, y.args)
}

// text is a line for people to read.
func (t *terms) line(x line) string {
	var guards, args []string
	for _, g := range x.guards {
		guards = append(guards, t.text(g))
	}
	for _, arg := range x.args {
		args = append(args, t.text(arg))
	}
	s := fmt.Sprintf("%s(%s)", x.call, strings.Join(args, "; "))
	if guards != nil {
		s += " where " + strings.Join(guards, " and ")
	}
	return s
}

// errDiffers is what every difference is.
var errDiffers = errors.New("the generated code is not the algorithm")

// difference returns the first one between what the text does and what is to be done; nil if there is none.
func (t *terms) difference(got, want []line) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%w: it lacks\n  %s", errDiffers, t.line(want[i]))
		case i >= len(want):
			return fmt.Errorf("%w: it goes on with\n  %s", errDiffers, t.line(got[i]))
		case !got[i].same(want[i]):
			return fmt.Errorf("%w: it does\n  %s\nwhere the algorithm has\n  %s", errDiffers, t.line(got[i]), t.line(want[i]))
		}
	}
	return nil
}
