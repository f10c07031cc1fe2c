package main

import "slices"

// operation is one that can be measured: the shapes of its buffers, and what it promises. A block has count elements.
type operation struct {
	name      string
	primitive string // its name in package fast
	rooted    bool
	reduces   bool
	in, out   shape
	// from says whose input a block of rank's output is, and which block of it: everybody for a reduction of all of
	// them.
	from func(r role, block int) (rank, source int)
	// holds tells whether a rank gets a result; nil: every rank does.
	holds func(r role) bool
	// bus is what algbw is multiplied by for busbw: how many bytes the busiest link carries per byte of the operation.
	bus func(ranks float64) float64
	// hops is how many operations one call makes one after the other.
	hops float64
	// least is how many ranks it takes, if more than 1.
	least int
}

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

// everybody stands for the combination of all ranks' inputs.
const everybody = -1

// The factors of nccl-tests.
func once(float64) float64        { return 1 }
func others(n float64) float64    { return (n - 1) / n }
func roundTrip(n float64) float64 { return 2 * (n - 1) / n }

func atRoot(r role) bool { return r.rank == r.root }

var operations = []operation{
	{name: "all-reduce", primitive: "AllReduce", reduces: true, in: one, out: one, bus: roundTrip, hops: 1,
		from: func(role, int) (int, int) { return everybody, 0 }},
	{name: "broadcast", primitive: "Broadcast", rooted: true, in: one, out: one, bus: once, hops: 1,
		from: func(r role, _ int) (int, int) { return r.root, 0 }},
	{name: "reduce", primitive: "Reduce", rooted: true, reduces: true, in: one, out: one, bus: once, hops: 1, holds: atRoot,
		from: func(role, int) (int, int) { return everybody, 0 }},
	{name: "all-gather", primitive: "AllGather", in: one, out: each, bus: others, hops: 1,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{name: "reduce-scatter", primitive: "ReduceScatter", reduces: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return everybody, r.rank }},
	{name: "all-to-all", primitive: "AllToAll", in: each, out: each, bus: others, hops: 1,
		from: func(r role, block int) (int, int) { return block, r.rank }},
	{name: "gather", primitive: "Gather", rooted: true, in: one, out: each, bus: others, hops: 1, holds: atRoot,
		from: func(_ role, block int) (int, int) { return block, 0 }},
	{name: "scatter", primitive: "Scatter", rooted: true, in: each, out: one, bus: others, hops: 1,
		from: func(r role, _ int) (int, int) { return r.root, r.rank }},
	{name: "barrier", primitive: "Barrier", bus: once, hops: 1},
	{name: "ping-pong", primitive: "Send", in: one, out: one, bus: once, hops: 2, least: 2, from: pong,
		holds: func(r role) bool { return r.rank < 2 }},
}

// pong: ranks 0 and 1 get each other's input; in place, rank 1 gives back what it got.
func pong(r role, _ int) (int, int) {
	if r.inPlace {
		return 0, 0
	}
	return 1 - r.rank, 0
}

func operationOf(name string) (operation, bool) {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	if i < 0 {
		return operation{}, false
	}
	return operations[i], true
}

// holder reports whether a rank gets a result.
func (o *operation) holder(r role) bool { return o.from != nil && (o.holds == nil || o.holds(r)) }

// width returns how many blocks the larger buffer of a rank has, which is what a size is of.
func (o *operation) width(ranks int) int { return max(o.in.blocks(ranks), o.out.blocks(ranks)) }

// counts returns the elements per block for sizes in bytes: rounded down, but at least 1, and each count once.
func (o *operation) counts(sizes []int, ranks, elementBytes int) (counts []int) {
	width := o.width(ranks)
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

// startable reports whether a call of o is one of fast's, which takes options and can be started.
func (o *operation) startable() bool { return o.primitive != "Send" }
