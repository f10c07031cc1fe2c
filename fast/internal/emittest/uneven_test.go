package emittest

import (
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// unevenBlocks is how long the blocks of a rank are, where blocks are uneven.
type unevenBlocks struct {
	in, out []int
	length  func(spec.Length) int
	longest int
}

// unevenOf returns those of a call's rank; nil if its blocks are equally long. Count says how unequal they are: some
// have none, and none has more.
func (e *emittedCall) unevenOf(rank int) *unevenBlocks {
	if !e.a.Primitive.IsUneven() {
		return nil
	}
	u := &unevenBlocks{length: func(l spec.Length) int { return (3*l[0] + 5*l[1] + e.count) % (e.count + 1) }}
	x := &e.expect.Ranks[rank]
	for _, b := range []struct {
		counts  *[]int
		lengths []spec.Length
	}{{&u.in, x.InLengths}, {&u.out, x.OutLengths}} {
		for _, l := range b.lengths {
			*b.counts = append(*b.counts, u.length(l))
			u.longest = max(u.longest, u.length(l))
		}
	}
	return u
}

// blocks returns what the call says of a buffer: nothing if it is a single block.
func (u *unevenBlocks) blocks(b spec.Buffer, counts []int) fast.Blocks {
	if b.Blocks.Kind == spec.Const {
		return fast.Blocks{}
	}
	return fast.Blocks{Counts: counts}
}

// span returns where a place lies in its buffer, in elements.
func (u *unevenBlocks) span(p gen.Place) (from, to int) {
	switch p.Buf {
	case spec.Scratch:
		from = p.At * u.longest
		return from, from + u.length(p.Length)
	case spec.In:
		from = total(u.in[:p.At])
	case spec.Out:
		from = total(u.out[:p.At])
	default:
		return 0, 0
	}
	return from, from + u.length(p.Length)
}

func total(counts []int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
