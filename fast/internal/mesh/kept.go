package mesh

import (
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// A long message is written out of its sender's memory. What the system does not take of it at once is copied, into
// memory that is used again, because new memory for each would keep the collector busy.

// spare is memory for a frame.
type spare [headBytes + wire.MaxNote]byte

var spares = sync.Pool{New: func() any { return new(spare) }}

// longFrame is how many bytes a frame has at least that is kept in a spare: most of what a spare takes.
const longFrame = wire.MaxNote / 4 * 3

// length returns how many bytes of the frame are to be written.
func (f *frame) length() int { return len(f.bytes) + len(f.body) }

// written removes the n bytes that were written.
func (f *frame) written(n int) {
	head := min(n, len(f.bytes))
	f.bytes, f.body = f.bytes[head:], f.body[n-head:]
}

// keep has the frame own its body, which it copies. After that, it has to be freed.
func (f *frame) keep() {
	if len(f.body) == 0 {
		return
	}
	var b []byte
	if f.length() >= longFrame {
		f.spare = spares.Get().(*spare)
		b = f.spare[:0]
	}
	f.bytes, f.body = append(append(b, f.bytes...), f.body...), nil
}

// free gives up the memory of a frame that was written, or will not be.
func (f *frame) free() {
	if f.spare != nil {
		spares.Put(f.spare)
		f.spare, f.bytes = nil, nil
	}
}
