package gen

import "github.com/collgen/collgen/spec"

// Cuts is how a call cuts its blocks, of Block elements each, into Chunks chunks: longer ones first, by one element.
type Cuts struct{ Block, Chunks int }

// Span returns where p lies in its buffer, in elements. What is in a slot of scratch begins with the slot.
func (c Cuts) Span(p Place) (from, to int) {
	if p.Buf != spec.Scratch {
		return c.upTo(p.At), c.upTo(p.At + p.N)
	}
	from = p.At * c.Slot()
	return from, from + c.Len(p)
}

// Len returns how many elements p has.
func (c Cuts) Len(p Place) int {
	if p.Buf != spec.Scratch {
		return c.upTo(p.At+p.N) - c.upTo(p.At)
	}
	return p.N * (c.upTo(p.Like+1) - c.upTo(p.Like)) // several slots are as long as blocks that are not cut
}

// Slot returns the length of a slot of scratch, in elements: that of the longest chunk.
func (c Cuts) Slot() int { return (c.Block + c.Chunks - 1) / c.Chunks }

// upTo returns the length of all chunks of a buffer before one.
func (c Cuts) upTo(chunk int) int {
	block, chunk := chunk/c.Chunks, chunk%c.Chunks
	return block*c.Block + chunk*(c.Block/c.Chunks) + min(chunk, c.Block%c.Chunks)
}
