// Package quantized has an all-reduce of float32 for slow links, which sends a quarter of the bytes: blocks of numbers
// of 8 bits, each block with a scale. The result is inexact by no more than [Options.ErrorBound], which is proved
// there.
//
// A call is made of two calls of package fast. Blocks are divided among the ranks as evenly as possible, and each rank
// owns a share of them. An AllToAllV brings each owner the blocks of the other ranks, quantized. The owner adds them to
// its own, which are not, in float32 and in the order of ranks. It quantizes the sums, and an AllGatherV gives them to
// all ranks. All of them, the owner too, take what the quantized sums stand for: so all ranks have the same bits. Both
// calls are proved. What they make up is tested, against a model of what is said here, bit by bit.
//
// Between hosts that have several ranks each, hosts.AllReduceQuantized is the call to use: it quantizes only what goes
// from host to host.
package quantized

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// DefaultBlock is the number of elements of a block without [Options.Block].
const DefaultBlock = 256

// The least and the most elements of a block.
const (
	minBlock = 16
	maxBlock = 1 << 16
)

// Options say how elements are quantized. All ranks pass the same.
type Options struct {
	Format Format // of the numbers; Int8 if it is not set
	// Block is the number of elements that have a scale in common, from 16 to 65,536; 0 is DefaultBlock. The last block
	// of a buffer may have fewer. A scale takes 4 bytes. An element that is much smaller than the largest one of its
	// block is worse off than in a smaller block.
	Block int
}

// String returns the format, without its float8, and the block, such as "int8/256" and "e4m3/256". It is so short that
// errors have all of it.
func (o Options) String() string {
	return fmt.Sprintf("%s/%d", strings.TrimPrefix(o.Format.String(), "float8"), o.block())
}

func (o Options) block() int {
	if o.Block == 0 {
		return DefaultBlock
	}
	return o.Block
}

// Comm is one rank's end of a communicator for quantized calls. It has memory for them, about half as many bytes as the
// longest buffer, so that a repeated call allocates nothing.
type Comm struct {
	c         *fast.Comm
	format    *format
	block     int
	operation string

	busy     atomic.Bool // guards what follows
	length   int         // of the buffers that the layout is for; -1: none
	sent     []byte      // all blocks, one after the other
	received []byte      // the blocks that this rank owns, of one rank after the other
	sums     []float32   // a block
	// Where the blocks that a rank owns lie: those of each rank in sent, the same without this rank's own, and what
	// each other rank sends in received.
	shares, to, from fast.Blocks
	part             exec.Part
	opts             []fast.Option
}

// New returns a communicator for quantized calls of the ranks of c. Its calls are calls on c, which stays open when the
// Comm is not used any more. New fails with ErrInvalidArgument if c is nil, or if there are no such options.
func New(c *fast.Comm, o Options) (*Comm, error) {
	const name = "quantized.New"
	switch block := o.block(); {
	case c == nil:
		return nil, wire.Refuse(name, "the communicator is nil")
	case int(o.Format) >= len(formats):
		return nil, wire.Refuse(name, "there is no format %d", o.Format)
	case block < minBlock || block > maxBlock:
		return nil, wire.Refuse(name, "blocks of %d elements, want %d to %d", block, minBlock, maxBlock)
	}
	q := &Comm{c: c, format: &formats[o.Format], block: o.block(), operation: "quantized " + o.String(), length: -1}
	n := c.Size()
	q.shares = fast.Blocks{Counts: make([]int, n), Displs: make([]int, n)}
	q.to = fast.Blocks{Counts: make([]int, n), Displs: q.shares.Displs}
	q.from = fast.Blocks{Counts: make([]int, n), Displs: make([]int, n)}
	q.sums = make([]float32, q.block)
	return q, nil
}
