package exec

import "unsafe"

// Buffer is one of the buffers of a Call, cut into chunks by Layout. Its methods return the memory of chunks.
type Buffer struct {
	Data   []byte
	*Cuts           // the same for all buffers of a call
	slot   int      // bytes from slot to slot; 0 if this is not scratch
	blocks []extent // where uneven ones lie, which are not cut
}

// Cuts is how blocks are cut into chunks.
type Cuts struct {
	block  int // bytes per block
	Chunks int // chunks per block
	short  int // bytes of a chunk
	longs  int // how many chunks of a block, the first ones, have one element more
	elem   int // bytes of an element
	// The lengths of uneven blocks, as all ranks know them. Then Chunks is 0, and all of the above too.
	uneven []extent
}

// Chunk returns the chunk of index at, counted through all blocks: block × chunks per block + chunk. Of scratch it is a
// slot.
func (b *Buffer) Chunk(at int) []byte {
	if b.Chunks == 1 && b.slot == 0 { // as for most short calls
		from := at * b.block
		return b.Data[from : from+b.block : from+b.block]
	}
	return b.Span(at, 1)
}

// Span returns the n consecutive chunks from index at on. Of scratch it is n slots. Where blocks are uneven, n is 1.
func (b *Buffer) Span(at, n int) []byte {
	if b.Chunks == 1 && b.slot == 0 { // as for most short calls
		from, to := at*b.block, (at+n)*b.block
		return b.Data[from:to:to]
	}
	if b.blocks != nil {
		is := b.blocks[at]
		return b.Data[is.from:is.to:is.to]
	}
	from, to := b.offset(at), b.offset(at+n)
	return b.Data[from:to:to]
}

// Slot returns the chunk of index at. Of scratch it is the part of slot at that is as long as the chunk of index like.
func (b *Buffer) Slot(at, like int) []byte {
	if b.slot == 0 {
		return b.Chunk(at)
	}
	from := at * b.slot
	to := from + b.length(like)
	return b.Data[from:to:to]
}

// offset returns the byte offset of chunk or slot at.
func (b *Buffer) offset(at int) int {
	if b.slot > 0 {
		return at * b.slot
	}
	block, chunk := at/b.Chunks, at%b.Chunks
	return block*b.block + chunk*b.short + min(chunk, b.longs)*b.elem
}

// length returns the length of chunk at in bytes.
func (c *Cuts) length(at int) int {
	if c.uneven != nil {
		return c.uneven[at].to - c.uneven[at].from
	}
	if c.longs > 0 && at%c.Chunks < c.longs {
		return c.short + c.elem
	}
	return c.short
}

// memory is memory that consecutive calls reuse.
type memory struct{ data []byte }

// CacheLine is the alignment of memory.
const CacheLine = 64

// Need returns n bytes, with undefined contents.
func (m *memory) Need(n int) []byte {
	if n > len(m.data) {
		data := make([]byte, n+CacheLine)
		skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(data)))) & (CacheLine - 1)
		m.data = data[skip : skip+n]
	}
	return m.data[:n]
}

// Overlap reports whether x and y have memory in common.
func Overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := Address(x), Address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

// Address returns the address of s's memory.
func Address(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

const maxInt = int(^uint(0) >> 1)
