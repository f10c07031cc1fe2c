package colltest

import (
	"context"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// Implementation is what is tested.
type Implementation interface {
	// Capabilities says what there is to test.
	Capabilities() Capabilities
	// Start starts a world of so many ranks.
	Start(ctx context.Context, size int) (World, error)
}

// World is ranks that can make calls together. It is started once for many calls, and closed after one that failed.
type World interface {
	// Call makes rank's part of a call, and returns when that is over for this rank. Every rank has a goroutine of its
	// own, which makes the calls that the rank takes part in one after the other. A call that has not ended when ctx
	// does, has failed; it should then return soon.
	Call(ctx context.Context, rank int, c *Call) error
	// Close ends the ranks, also those that are in a call. It returns when they are gone.
	Close() error
}

// Call is one rank's part of a call, as plain data.
type Call struct {
	Primitive  string // as spec names it
	Type       spec.Type
	Op         spec.Op // of a reduction
	Root, Peer int     // where the primitive has them

	// InCounts and OutCounts are the elements of each block of the two buffers; nil: the rank does not pass that one.
	InCounts, OutCounts []int
	// Uneven, counts of some rank differ: it is the call that others have a V form for. It is the same on all ranks.
	Uneven bool
	// InPlace, In and Out share memory as the primitive allows it, where the rank passes both.
	InPlace bool
	// Memory has In and Out in it, from these bytes on, and known bytes around them, which must not change. It begins
	// at a multiple of 64 bytes; In and Out begin at multiples of an element.
	Memory      []byte
	InAt, OutAt int
}

// In returns the memory of the rank's input, nil if it passes none.
func (c *Call) In() []byte { return c.buffer(c.InAt, c.InCounts) }

// Out returns the memory of the rank's output, nil if it passes none.
func (c *Call) Out() []byte { return c.buffer(c.OutAt, c.OutCounts) }

// Whole returns the memory of all that the rank passes in place: the longer one of In and Out, in which the other lies.
func (c *Call) Whole() []byte {
	if len(c.Out()) > len(c.In()) || c.InCounts == nil {
		return c.Out()
	}
	return c.In()
}

func (c *Call) buffer(at int, counts []int) []byte {
	if counts == nil {
		return nil
	}
	n := total(counts) * c.Type.Bytes()
	return c.Memory[at : at+n : at+n]
}

func total(counts []int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// As returns memory as elements of T, which it has to be a whole number of; nil if it is nil.
func As[T spec.Elem](memory []byte) []T {
	if memory == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(*new(T))))
}

// alignment of Memory: a line of the cache, and the widest vector.
const alignment = 64

// Aligned returns n bytes of zeros that begin at a multiple of 64.
func Aligned(n int) []byte {
	all := make([]byte, n+alignment)
	lead := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % alignment
	return all[lead : int(lead)+n : int(lead)+n]
}
