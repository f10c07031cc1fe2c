package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// value is what a cell holds: the reduction of a chunk of the inputs of count ranks from first on, if anything is
// known. It is finished or not, and lent or not.
type value struct{ known, chunk, first, count, done, lent expr }

var nothing = heard(no)

// heard returns that a rank has heard of another one, or not.
func heard(known expr) value { return value{known, zero, zero, zero, no, no} }

// reduction returns a value that is known.
func reduction(chunk, first, count, done expr) value {
	return value{yes, chunk, first, count, done, no}
}

// either returns x where c holds, and otherwise y.
func either(c expr, x, y value) value {
	switch {
	case is(c, 0):
		return y
	case is(y.known, 0): // what y holds does not matter
		x.known = and(c, x.known)
		return x
	}
	return value{cond(c, x.known, y.known), cond(c, x.chunk, y.chunk), cond(c, x.first, y.first),
		cond(c, x.count, y.count),
		cond(c, x.done, y.done), cond(c, x.lent, y.lent)}
}

// as returns v under names.
func (v value) as(f *frame, label string) value {
	n := f.c.name
	return value{n("known"+label, v.known), n("chunk"+label, v.chunk), n("first"+label, v.first),
		n("count"+label, v.count),
		n("done"+label, v.done), n("lent"+label, v.lent)}
}

// holds says that v is known to be what w is, lent or not.
func (v value) holds(w value) []Part {
	return []Part{{"known", v.known}, {"chunk", eq(v.chunk, w.chunk)}, {"first rank", eq(v.first, w.first)},
		{"count", eq(v.count, w.count)},
		{"finished", eq(v.done, w.done)}}
}

// state is what memory holds at a place of the program: what cell of buf holds on the rank of f, which is at that
// place.
type state func(f *frame, buf spec.Buf, cell expr) value

// input is chunk of what the rank contributes.
func input(rank, chunk expr) value { return reduction(chunk, rank, one, no) }

// initial returns the state before the call.
func initial(f *frame, buf spec.Buf, cell expr) value {
	switch buf {
	case spec.In:
		return input(f.rank(), cell)
	case spec.Out:
		at := sub(cell, f.shiftIfShared())
		return either(and(f.shared(), within(at, zero, f.length(spec.In))), input(f.rank(), at), nothing)
	case gen.Heard:
		return heard(eq(cell, f.rank()))
	}
	return nothing
}

// shiftIfShared is shift, or 0 where it has no meaning.
func (f *frame) shiftIfShared() expr {
	if is(f.shared(), 0) {
		return zero
	}
	return f.shift()
}

// read returns what cell of buf holds, which may be the name of a buffer.
func (s state) read(f *frame, buf spec.Buf, cell expr) value {
	v := nothing
	for _, c := range f.cases(buf) {
		v = either(c.cond, s(f, c.buf, cell), v)
	}
	return v
}

// caseOf is a buffer that a name stands for, where cond holds.
type caseOf struct {
	cond expr
	buf  spec.Buf
}

// cases returns what buf stands for; exactly one of them holds.
func (f *frame) cases(buf spec.Buf) []caseOf {
	p, ok := f.bufs[buf]
	if !ok {
		return []caseOf{{yes, buf}}
	}
	var list []caseOf
	for _, c := range f.cases(p.els) {
		list = append(list, caseOf{and(not(p.cond), c.cond), c.buf})
	}
	for _, c := range f.cases(p.then) {
		list = append(list, caseOf{and(p.cond, c.cond), c.buf})
	}
	return list
}
