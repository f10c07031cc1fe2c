package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The words that invariants are written in.
var (
	rank, size, root, depth = spec.Rank, spec.Size, spec.Root, spec.Depth
	two                     = spec.Int(2)
	v                       = spec.Var
	in, out, scratch        = spec.In, spec.Out, spec.Scratch
)

// up and down are wrap-arounds, as spec's.
func up(x expr) expr   { return spec.Up(x, size) }
func down(x expr) expr { return spec.Down(x, size) }

// whole is a range's first rank, which is 0 if the range is all ranks.
func whole(count, first expr) expr { return spec.If(eq(count, size), zero, first) }

var turn, piece = v("s"), v("q")

// behind is how many ranks x lies behind of, around the ring.
func behind(of, x expr) expr { return down(sub(of, x)) }

var _ = know("allgather/ring", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	// The blocks of the ranks behind have come, the nearest first.
	{Buf: out, Where: le(behind(rank, gen.Cell), turn), Chunk: zero, First: gen.Cell, Count: one},
}}}})

var _ = know("reducescatter/ring", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	// What is sent next is the sum of what it came through: chunk c of the ranks from c+1 to this one.
	ringSum(scratch, and(lt(zero, turn), lt(turn, sub(size, one)), eq(gen.Cell, spec.BitAnd(sub(turn, one), one)))),
	ringSum(out, isLast),
	untouched(not(and(isLast, eq(gen.Cell, rank)))),
}}}})

// isLast holds after the last turn, when the sum is in out.
var isLast = eq(turn, sub(size, one))

func ringSum(buf spec.Buf, where expr) gen.Claim {
	count := add(turn, one)
	return gen.Claim{Buf: buf, Where: where, Chunk: v("c"), First: whole(count, up(add(v("c"), one))), Count: count}
}

// chunks are the cells of the n chunks of a ring from first on, around the ring. A ring's chunks have unit cells each, from base on.
type chunks struct{ base, unit expr }

// start is the first cell of the chunk, which may be the one after the last.
func (r chunks) start(chunk expr) expr { return add(r.base, mul(chunk, r.unit)) }

func (r chunks) within(first, n expr) expr {
	end := add(first, n)
	wraps := lt(size, end)
	return and(le(r.base, gen.Cell), lt(gen.Cell, r.start(size)),
		or(and(not(wraps), le(r.start(first), gen.Cell), lt(gen.Cell, r.start(end))),
			and(wraps, or(le(r.start(first), gen.Cell), lt(gen.Cell, r.start(sub(end, size)))))))
}

// pieces are the first n cells of a chunk.
func (r chunks) pieces(chunk, n expr) expr {
	return and(le(r.start(chunk), gen.Cell), lt(gen.Cell, add(r.start(chunk), n)))
}

// partial says that cells where hold the sum of count ranks from the chunk's number on.
func partial(where, chunk, count expr) gen.Claim {
	return gen.Claim{Buf: out, Where: where, Chunk: gen.Cell, First: whole(count, chunk), Count: count}
}

// final says that cells where hold the finished sum of all ranks.
func final(where expr) gen.Claim {
	return gen.Claim{Buf: out, Where: where, Chunk: gen.Cell, First: zero, Count: size, Done: true}
}

// untouched says that cells where are still the input, also in place.
func untouched(where expr) gen.Claim {
	return gen.Claim{Buf: in, Where: where, Chunk: gen.Cell, First: rank, Count: one}
}

// In turn s of the first loop a rank sends chunk c, which it has the sum of s+1 ranks of, and gets d; it has overwritten the
// s chunks from c on. In turn s of the second, it has the s+1 chunks from c on.
var (
	c, d     = v("c"), v("d")
	isSummed = or(lt(zero, turn), eq(size, one))
	noInput  = untouched(no)
)

// firstTrip and secondTrip are the invariants of the two loops of a ring all-reduce, where the cells done are finished
// already, and those behind rest are untouched.
func (r chunks) firstTrip(done, rest expr) gen.Invariant {
	return gen.Invariant{Claims: []gen.Claim{
		final(done),
		partial(and(isSummed, r.within(c, one)), c, add(turn, one)),
		untouched(and(rest, not(r.within(c, turn)))),
	}}
}

func (r chunks) secondTrip(done, rest expr) gen.Invariant {
	return gen.Invariant{Claims: []gen.Claim{final(or(done, r.within(c, add(turn, one)))), untouched(rest)}}
}

var plain = chunks{zero, one}

var _ = know("allreduce/ring", gen.Hints{Loops: []gen.Invariant{plain.firstTrip(no, yes), plain.secondTrip(no, no)}})

var inPieces = chunks{zero, depth}

var _ = know("allreduce/chunked-ring", gen.Hints{Loops: []gen.Invariant{
	inPieces.firstTrip(no, yes),
	{Claims: []gen.Claim{
		partial(and(isSummed, inPieces.within(c, one)), c, add(turn, one)),
		partial(inPieces.pieces(d, piece), d, add(turn, two)),
		untouched(not(or(inPieces.within(c, turn), inPieces.pieces(d, piece)))),
	}},
	inPieces.secondTrip(no, no),
	{Claims: []gen.Claim{final(or(inPieces.within(c, add(turn, one)), inPieces.pieces(d, piece))), noInput}},
}})

// A segment is a ring of its own, behind those that are done.
var (
	segment = chunks{mul(piece, size), one}
	before  = lt(gen.Cell, segment.base)
)

var _ = know("allreduce/segmented-ring", gen.Hints{Loops: []gen.Invariant{
	{Claims: []gen.Claim{final(before), untouched(not(before))}},
	segment.firstTrip(before, not(before)),
	segment.secondTrip(before, le(mul(add(piece, one), size), gen.Cell)),
}})
