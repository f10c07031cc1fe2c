package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// value is what a cell holds: the reduction of a chunk of the inputs of count ranks from first on, if anything is known. It is
// finished or not, and lent or not.
type value struct{ known, chunk, first, count, done, lent expr }

var nothing = heard(no)

// heard is that a rank has heard of another one, or not.
func heard(known expr) value { return value{known, zero, zero, zero, no, no} }

// reduction is a value that is known.
func reduction(chunk, first, count, done expr) value {
	return value{yes, chunk, first, count, done, no}
}

// either is x where c holds, and otherwise y.
func either(c expr, x, y value) value {
	switch {
	case is(c, 0):
		return y
	case is(y.known, 0): // what y holds does not matter
		x.known = and(c, x.known)
		return x
	}
	return value{cond(c, x.known, y.known), cond(c, x.chunk, y.chunk), cond(c, x.first, y.first), cond(c, x.count, y.count),
		cond(c, x.done, y.done), cond(c, x.lent, y.lent)}
}

// as is v under names.
func (v value) as(f *frame, label string) value {
	n := f.c.name
	return value{n("known"+label, v.known), n("chunk"+label, v.chunk), n("first"+label, v.first), n("count"+label, v.count),
		n("done"+label, v.done), n("lent"+label, v.lent)}
}

// holds says that v is known to be what w is, lent or not.
func (v value) holds(w value) expr {
	return and(v.known, eq(v.chunk, w.chunk), eq(v.first, w.first), eq(v.count, w.count), eq(v.done, w.done))
}

// state is what memory holds at a place of the program: what cell of buf holds on the rank of f, which is at that place.
type state func(f *frame, buf spec.Buf, cell expr) value

// input is chunk of what the rank contributes.
func input(rank, chunk expr) value { return reduction(chunk, rank, one, no) }

// initial is the state before the call.
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

// read is what cell of buf holds, which may be the name of a buffer.
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

// cases are what buf stands for; exactly one of them holds.
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

// region is a gen.Region with numbers in it.
type region struct {
	cases []caseOf
	at, n expr
}

func (f *frame) region(r gen.Region) region {
	return region{f.cases(r.Buf), f.c.name("at"+f.label, f.eval(r.At)), f.c.name("n"+f.label, f.orElse(r.N, one))}
}

// where is the place of cell of buf in r: whether it is in r, in place under whatever name, and how many cells after the first.
func (r region) where(f *frame, buf spec.Buf, cell expr) (inside, offset expr) {
	inside, offset = no, zero
	for _, c := range r.cases {
		x, ok := f.seen(buf, cell, c.buf)
		hit := and(c.cond, ok, within(x, r.at, r.n))
		inside, offset = or(inside, hit), cond(hit, sub(x, r.at), offset)
	}
	if is(r.n, 1) {
		offset = zero
	}
	return inside, offset
}

// seen is the cell of the buffer as that cell of buf is, and whether there is any.
func (f *frame) seen(buf spec.Buf, cell expr, as spec.Buf) (expr, expr) {
	switch {
	case buf == as:
		return cell, yes
	case buf == spec.In && as == spec.Out && f.c.o.InPlace:
		return add(cell, f.shiftIfShared()), f.shared()
	case buf == spec.Out && as == spec.In && f.c.o.InPlace:
		return sub(cell, f.shiftIfShared()), f.shared()
	}
	return cell, no
}

// overlaps tells whether r and q, of one rank, share a cell, and whether they are the same cells in the same order.
func (r region) overlaps(f *frame, q region) (share, equal expr) {
	share, equal = no, no
	for _, c := range r.cases {
		for _, d := range q.cases {
			at, ok := f.seen(c.buf, r.at, d.buf)
			both := and(c.cond, d.cond, ok)
			share = or(share, and(both, lt(at, add(q.at, q.n)), lt(q.at, add(at, r.n))))
			equal = or(equal, and(both, eq(at, q.at), eq(r.n, q.n)))
		}
	}
	return share, equal
}
