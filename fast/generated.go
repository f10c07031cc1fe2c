package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
)

// This file is the seam between generated code and the runtime. Programs that call collectives need nothing of it.

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective struct {
	Name       string // "AllReduce"
	Hash       uint64 // of the specification
	Algorithms []Algorithm
}

// Algorithm is one generated algorithm.
type Algorithm struct {
	Name        string              // "ring"
	Hash        uint64              // of the algorithm's text
	Commutative bool                // needs a commutative op
	OutOfPlace  bool                // needs distinct buffers
	Serves      func(size int) bool // nil: every size
	Run         func(ctx context.Context, x *Call) error
}

// Args are the arguments of a call besides its buffers.
type Args struct {
	Count      int // elements per block
	Op         Op
	Root, Peer int
	// In place, In's element AliasIn is Out's element AliasOut. NoAlias: the buffers may not overlap.
	AliasIn, AliasOut int
	NoAlias           bool
}

// Call is one call in progress on one rank: what generated code runs on. Lengths and offsets are in chunks, as Layout
// cuts the blocks.
type Call struct {
	Rank, Size, Root, Peer, Depth int

	c       *Comm
	in, out []byte
	scratch []byte
	sends   []wire.Send
	recvs   []wire.Recv
	kernel  wire.Kernel
}
