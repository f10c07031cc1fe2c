package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// How long an uneven block is, is n of a few numbers, and nothing is known of n: what has to be as long has to have the
// same numbers. Of even blocks these functions return nothing.

// counts returns the arguments of n for a block of b on a rank.
func (f *frame) counts(b spec.Buffer, rank, block expr) (list []expr) {
	f = f.bind(spec.Rank.Name, rank).bind(spec.Block.Name, block)
	for _, e := range b.Counts {
		list = append(list, f.eval(e))
	}
	return list
}

// countsOf returns the arguments of n for a region.
func (f *frame) countsOf(r gen.Region) []expr {
	list := make([]expr, f.c.a.Primitive.Arity())
	for i := range list {
		list[i] = zero
	}
	for _, k := range f.cases(r.Buf) {
		own := f.stated(r)
		if b, ok := f.c.buffer(k.buf); ok {
			own = f.counts(b, f.rank(), f.eval(r.At))
		}
		if len(own) != len(list) {
			panic(unsupported{fmt.Sprintf("%v has %d Counts", r, len(own))})
		}
		for i, e := range own {
			list[i] = cond(k.cond, e, list[i])
		}
	}
	return list
}

// stated returns what the Counts of a region come to.
func (f *frame) stated(r gen.Region) (list []expr) {
	for _, e := range r.Counts {
		list = append(list, f.eval(e))
	}
	return list
}

// asLong says that two lists of arguments of n are the same.
func asLong(says string, x, y []expr) (parts []Part) {
	for i := range min(len(x), len(y)) {
		parts = append(parts, Part{says, eq(x[i], y[i])})
	}
	return parts
}

// readAsWritten says that v, if it is known, is as long as r, where it is read: then no element of it is left out.
func (f *frame) readAsWritten(r gen.Region, v value) (parts []Part) {
	if !f.c.a.Primitive.IsUneven() {
		return f.chunkAsWritten(r, v)
	}
	for _, p := range asLong("as long as what is there", f.counts(f.c.a.Primitive.In, v.first, v.chunk), f.countsOf(r)) {
		parts = append(parts, Part{p.Says, implies(v.known, p.Is)})
	}
	return parts
}

// chunkAsWritten is readAsWritten of a slot that is like a chunk: only scratch has places as long as chunks that do not
// lie there.
func (f *frame) chunkAsWritten(r gen.Region, v value) (parts []Part) {
	if f.c.a.Chunks.IsAbsent() || is(f.c.a.Chunks, 1) {
		return nil
	}
	for _, k := range f.cases(r.Buf) {
		if k.buf == spec.Scratch {
			parts = append(parts, Part{"as long as what is there",
				implies(and(k.cond, v.known), eq(v.chunk, f.eval(r.Like.OrElse(r.At))))})
		}
	}
	return parts
}

// knowsLength says that the rank knows how long r is, and that a place in its buffers is as long as it is said to be.
func (f *frame) knowsLength(r gen.Region) (parts []Part) {
	p := f.c.a.Primitive
	if !p.IsUneven() {
		return nil
	}
	for _, e := range r.Counts {
		parts = append(parts, Part{"the counts have values", f.hasValue(e)})
	}
	stated := f.stated(r)
	for _, k := range f.cases(r.Buf) {
		if b, ok := f.c.buffer(k.buf); ok {
			for _, x := range asLong("as long as is said", f.counts(b, f.rank(), f.eval(r.At)), stated) {
				parts = append(parts, Part{x.Says, implies(k.cond, x.Is)})
			}
			continue
		}
		known := or(f.has(p.In, stated), f.has(p.Out, stated))
		parts = append(parts, Part{"the rank knows how long it is", implies(k.cond, known)})
	}
	return parts
}

// has says that the rank passes b, and that a block of b is as long as counts say. One of Counts is the block, and the
// others do not depend on it, or none does.
func (f *frame) has(b spec.Buffer, counts []expr) expr {
	if b.Blocks.IsAbsent() || len(b.Counts) != len(counts) {
		return no
	}
	blocks := f.eval(b.Blocks)
	found := and(f.orElse(b.On, yes), lt(zero, blocks))
	blockSeen := false
	for i, e := range b.Counts {
		isBlock := e.Kind == spec.Variable && e.Name == spec.Block.Name
		switch {
		case isBlock && blockSeen:
			panic(unsupported{"two Counts are the block"})
		case isBlock:
			blockSeen = true
			found = and(found, le(zero, counts[i]), lt(counts[i], blocks))
		case mentions(e, spec.Block.Name):
			panic(unsupported{fmt.Sprintf("Counts depend on the block by %v", e)})
		default:
			found = and(found, eq(counts[i], f.eval(e)))
		}
	}
	return found
}

func mentions(e expr, name string) bool {
	seen := map[string]bool{}
	mark(seen, e)
	return seen[name]
}
