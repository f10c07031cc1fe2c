package bench

import (
	"math"
	"slices"

	"github.com/collgen/collgen/internal/figures"
)

// Operation can be measured. It has the shapes of the buffers and the promised result. A block has count elements.
type Operation struct {
	Name      string
	Primitive string // its name in package fast
	MinRanks  int    // 0: 1
	rooted    bool
	reduces   bool
	apart     bool // it has no form in place
	in, out   shape
	// from returns whose input a block of a rank's output is, and which block of it; combined for a reduction.
	from func(r role, block int) (rank, source int)
	// operands returns how many ranks' inputs a reduction combines, from rank 0 on; nil: all of them.
	operands func(r role) int
	// holds reports whether a rank gets a result; nil: every rank does.
	holds func(r role) bool
	// bus is busbw over algbw: the bytes that the busiest link carries per byte of the operation.
	bus func(ranks float64) float64
	// hops is how many operations one call makes, one after another.
	hops float64
}

// Reduces reports whether the operation has an operator.
func (o Operation) Reduces() bool { return o.reduces }

// shape is how many blocks a buffer has: one, or one for each rank.
type shape int

const (
	none shape = iota
	one
	each
)

func (s shape) blocks(ranks int) int { return [...]int{0, 1, ranks}[s] }

// role is a rank's part in a call.
type role struct {
	rank, ranks, root int
	inPlace           bool
}

// combined stands for the combination of ranks' inputs.
const combined = -1

// combinedFirst returns the first block of that combination.
func combinedFirst(role, int) (rank, source int) { return combined, 0 }

// The factors of nccl-tests.
func once(float64) float64        { return 1 }
func others(n float64) float64    { return (n - 1) / n }
func roundTrip(n float64) float64 { return 2 * (n - 1) / n }

func atRoot(r role) bool { return r.rank == r.root }

// Operations are all operations.
var Operations = []Operation{
	{Name: "all-reduce", Primitive: "AllReduce", reduces: true, in: one, out: one, bus: roundTrip, hops: 1,
		from: combinedFirst},
	{Name: "broadcast", Primitive: "Broadcast", rooted: true, in: one, out: one, bus: once, hops: 1,
		from: func(r role, _ int) (int, int) { return r.root, 0 }},
	{Name: "reduce", Primitive: "Reduce", rooted: true, reduces: true, in: one, out: one, bus: once, hops: 1,
		holds: atRoot,
		from:  combinedFirst},
	{Name: "all-gather", Primitive: "AllGather", in: one, out: each, bus: others, hops: 1,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{Name: "reduce-scatter", Primitive: "ReduceScatter", reduces: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return combined, r.rank }},
	{Name: "scan", Primitive: "Scan", reduces: true, in: one, out: one, bus: once, hops: 1, from: combinedFirst,
		operands: func(r role) int { return r.rank + 1 }},
	{Name: "exscan", Primitive: "Exscan", reduces: true, in: one, out: one, bus: once, hops: 1, from: combinedFirst,
		operands: func(r role) int { return r.rank }, holds: func(r role) bool { return r.rank > 0 }},
	{Name: "all-to-all", Primitive: "AllToAll", in: each, out: each, bus: others, hops: 1,
		from: func(r role, block int) (int, int) { return block, r.rank }},
	{Name: "gather", Primitive: "Gather", rooted: true, in: one, out: each, bus: others, hops: 1, holds: atRoot,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{Name: "scatter", Primitive: "Scatter", rooted: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return r.root, r.rank }},
	// Those of uneven blocks are called with blocks of equal length, to compare them with the others.
	{Name: "all-gather-v", Primitive: "AllGatherV", in: one, out: each, bus: others, hops: 1,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{Name: "reduce-scatter-v", Primitive: "ReduceScatterV", reduces: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return combined, r.rank }},
	{Name: "gather-v", Primitive: "GatherV", rooted: true, in: one, out: each, bus: others, hops: 1, holds: atRoot,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{Name: "scatter-v", Primitive: "ScatterV", rooted: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return r.root, r.rank }},
	{Name: "all-to-all-v", Primitive: "AllToAllV", apart: true, in: each, out: each, bus: others, hops: 1,
		from: func(r role, block int) (int, int) { return block, r.rank }},
	{Name: "barrier", Primitive: "Barrier", bus: once, hops: 1},
	{Name: "ping-pong", Primitive: "Send", in: one, out: one, bus: once, hops: 2, MinRanks: 2, from: pong,
		holds: func(r role) bool { return r.rank < 2 }},
}

// pong: ranks 0 and 1 get each other's input; in place, rank 1 returns what it got.
func pong(r role, _ int) (int, int) {
	if r.inPlace {
		return 0, 0
	}
	return 1 - r.rank, 0
}

// OperationNamed returns the operation of that name, if there is one.
func OperationNamed(name string) (Operation, bool) {
	i := slices.IndexFunc(Operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, false
	}
	return Operations[i], true
}

// combines returns how many ranks' inputs a reduction combines on a rank.
func (o *Operation) combines(r role) int {
	if o.operands == nil {
		return r.ranks
	}
	return o.operands(r)
}

// holder reports whether a rank gets a result.
func (o *Operation) holder(r role) bool { return o.from != nil && (o.holds == nil || o.holds(r)) }

// Width returns how many blocks the larger buffer of a rank has. Sizes are those of that buffer.
func (o *Operation) Width(ranks int) int { return max(o.in.blocks(ranks), o.out.blocks(ranks)) }

// Counts returns the elements per block for sizes in bytes, rounded down, at least 1, without duplicates.
func (o *Operation) Counts(sizes []int, ranks, elementBytes int) (counts []int) {
	width := o.Width(ranks)
	if width == 0 {
		return []int{0}
	}
	for _, s := range sizes {
		if s > 0 {
			s = max(1, s/elementBytes/width)
		}
		counts = append(counts, s)
	}
	return slices.Compact(counts)
}

// Startable reports whether a call of o takes options and can be started.
func (o *Operation) Startable() bool { return o.Primitive != "Send" }

// Sizes returns the sizes from first to last, each factor times the one before.
func Sizes(first, last figures.Size, factor int) (sizes []int) {
	for s := int(first); s <= int(last); s *= factor {
		sizes = append(sizes, s)
		if s == 0 || s > math.MaxInt/factor {
			break
		}
	}
	return sizes
}
