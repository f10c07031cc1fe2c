package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// region is a gen.Region with numbers in it.
type region struct {
	cases []caseOf
	at, n expr
}

func (f *frame) region(r gen.Region) region {
	return region{f.cases(r.Buf), f.c.name("at"+f.label, f.eval(r.At)), f.c.name("n"+f.label, f.orElse(r.N, one))}
}

// where returns the place of cell of buf in r: whether it is in r, in place under whatever name, and how many cells
// after the first.
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

// seen returns the cell of the buffer as that cell of buf is, and whether there is any.
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

// overlaps reports whether r and q, of one rank, share a cell, and whether they are the same cells in the same order.
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
