package simulate

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// cuts is how the blocks of a call are cut into chunks: longer ones first, by one byte.
type cuts struct{ block, chunks int }

// bytes is how long what p names is.
func (c cuts) bytes(p gen.Place) int {
	if p.Buf == spec.Scratch {
		return p.N * c.chunk(p.Like)
	}
	return c.upTo(p.At+p.N) - c.upTo(p.At)
}

// chunk is the length of chunk i of a block.
func (c cuts) chunk(i int) int {
	if i < c.block%c.chunks {
		return c.block/c.chunks + 1
	}
	return c.block / c.chunks
}

// upTo is the length of all chunks of a buffer before chunk i.
func (c cuts) upTo(i int) int {
	block, chunk := i/c.chunks, i%c.chunks
	return block*c.block + chunk*(c.block/c.chunks) + min(chunk, c.block%c.chunks)
}
