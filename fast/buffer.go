package fast

// Buffer is one of the buffers of a Call, cut into chunks as Layout says.
type Buffer struct {
	data        []byte
	count       int // bytes per block
	chunks      int // chunks per block
	short, long int // bytes of a short chunk; and of a long one
	longs       int // how many chunks of a block, the first ones, are long
	slot        int // bytes per slot; 0 if this is not scratch
}

// Chunk is the chunk of index at, counted through all blocks: block × chunks per block + chunk.
func (b *Buffer) Chunk(at int) []byte { return b.Span(at, 1) }

// Span is the n consecutive chunks from index at on. Of scratch it is n slots.
func (b *Buffer) Span(at, n int) []byte {
	from, to := b.offset(at), b.offset(at+n)
	return b.data[from:to:to]
}

// Slot is chunk at; of scratch it is the part of slot at that is as long as chunk like.
func (b *Buffer) Slot(at, like int) []byte {
	if b.slot == 0 {
		return b.Chunk(at)
	}
	from := at * b.slot
	return b.data[from : from+b.length(like)]
}

func (b *Buffer) offset(at int) int {
	if b.slot != 0 {
		return at * b.slot
	}
	block, chunk := at/b.chunks, at%b.chunks
	return block*b.count + chunk*b.short + min(chunk, b.longs)*(b.long-b.short)
}

func (b *Buffer) length(like int) int {
	if like%b.chunks < b.longs {
		return b.long
	}
	return b.short
}
