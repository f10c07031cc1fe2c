package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// sum is a reduction of two operands, and whether it is allowed.
type sum struct {
	value       value
	left, right value
	allowed     []Part
}

// reduced returns what a RecvReduce makes of a cell, of which it received what got says.
func (w *walker) reduced(f *frame, n gen.RecvReduce, s state, offset expr, got value) sum {
	with := s.read(f, n.With.Buf, add(f.region(n.With).at, offset)).as(f, "_with")
	swap := f.c.name("received_first", f.orElse(n.ReceivedFirst, no))
	return w.sum(f, either(swap, got, with), either(swap, with, got))
}

// sum returns x ⊕ y.
func (w *walker) sum(f *frame, x, y value) sum {
	n := f.c.name
	count := n("total", add(x.count, y.count))
	wrap := func(v value) expr {
		end := n("end", add(v.first, v.count))
		return cond(lt(end, spec.Size), end, sub(end, spec.Size))
	}
	meets, first := eq(n("end", add(x.first, x.count)), y.first), x.first
	if w.a.Requires.Commutative {
		inOrder := n("in_order", eq(n("wrapped", wrap(x)), y.first))
		meets = or(inOrder, eq(n("wrapped", wrap(y)), x.first))
		first = cond(inOrder, x.first, y.first)
	}
	r := sum{left: x, right: y}
	r.value = reduction(x.chunk, cond(eq(count, spec.Size), zero, first), count, no)
	r.allowed = []Part{{"the left one is known", x.known}, {"the right one is known", y.known},
		{"the left one is not finished", not(x.done)}, {"the right one is not finished", not(y.done)},
		{"of one chunk", eq(x.chunk, y.chunk)}, {"ranges that meet", meets}, {"no more than all ranks", le(count, spec.Size)}}
	return r
}

// receive derives what has to hold of a reduction of what is received.
func (w *walker) receive(x *action) {
	n, ok := x.node.(gen.RecvReduce)
	if !ok {
		return
	}
	if _, inLoop := x.turn(); inLoop {
		panic(unsupported{fmt.Sprintf("action %d reduces in a loop inside of a step", x.index)})
	}
	w.reduces = append(w.reduces, x)
	w.oblige("operands", "both operands are known, of one chunk, not finished, and of ranges that are disjoint and meet",
		x.index, func(c *context) {
			c.want(w.anySum(c, x).allowed...)
		})
	w.oblige("alias", "its operand is its destination, or apart from it", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		share, equal := f.region(n.Into).overlaps(f, f.region(n.With))
		c.want(Part{"what is reduced", implies(share, equal)})
	})
}

// anySum returns the reduction that x makes of any cell, on any rank.
func (w *walker) anySum(c *context, x *action) sum {
	f := w.anywhere(c, x.place())
	n := x.node.(gen.RecvReduce)
	offset := f.anyOffset(n.Into)
	sender := w.sender(x, f)
	got, data := sender.value(offset), sender.send.data()
	sender.f.needs(data.Buf, add(sender.f.region(data).at, offset), got)
	with := x.step.state.read(f, n.With.Buf, add(f.region(n.With).at, offset))
	f.needs(n.With.Buf, add(f.region(n.With).at, offset), with)
	r := w.reduced(f, n, x.step.state, offset, got)
	r.allowed = append(r.allowed, f.readAsWritten(n.With, with)...)
	return r
}
