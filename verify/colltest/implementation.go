package colltest

import (
	"context"
	"errors"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// Implementation is the code under test.
type Implementation interface {
	// Capabilities returns what there is to test.
	Capabilities() Capabilities
	// Start starts a world with size ranks.
	Start(ctx context.Context, size int) (World, error)
}

// World is a group of ranks that make calls together. It makes many calls, and is closed after one that failed.
type World interface {
	// Call makes one rank's part of a call, and returns when the rank has completed it. Every rank has its own
	// goroutine, which makes the rank's calls one after the other. A call that is running when ctx ends has failed, and
	// should return soon. An error that wraps ErrCannot says that all ranks leave this call out.
	Call(ctx context.Context, rank int, c *Call) error
	// Close ends the ranks, even during calls, and returns when they have ended.
	Close() error
}

// ErrCannot says that an implementation does not support a call, though it does others that its Capabilities do not
// tell from it. The call counts as not tested.
var ErrCannot = errors.New("the implementation cannot make the call")

// Call is one rank's part of a call, as plain data.
type Call struct {
	Primitive  string // as spec names it
	Type       spec.Type
	Op         spec.Op // of a reduction
	Root, Peer int     // if the primitive has them

	// InCounts and OutCounts are the numbers of elements in each block of In and Out; nil: the rank has no such buffer.
	InCounts, OutCounts []int
	// Uneven says that counts of some rank differ. MPI has V forms for such calls. It is the same on all ranks.
	Uneven bool
	// InPlace says that In and Out share memory as the primitive allows it, if the rank has both.
	InPlace bool
	// Memory contains In and Out, which begin at bytes InAt and OutAt. Around them are known bytes, which must not
	// change. Memory is aligned to 64 bytes, In and Out to elements.
	Memory      []byte
	InAt, OutAt int
}

// In returns the rank's input buffer, nil if it has none.
func (c *Call) In() []byte { return c.buffer(c.InAt, c.InCounts) }

// Out returns the rank's output buffer, nil if it has none.
func (c *Call) Out() []byte { return c.buffer(c.OutAt, c.OutCounts) }

// Whole returns the buffer of a call in place: the longer one of In and Out, which contains the other.
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

// As returns memory as a slice of T, nil if it is nil. Its length has to be a multiple of T's size.
func As[T spec.Elem](memory []byte) []T {
	if memory == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(*new(T))))
}

// alignment is that of Memory: a cache line, and the widest vector.
const alignment = 64

// Aligned returns n zero bytes, aligned to 64 bytes.
func Aligned(n int) []byte {
	all := make([]byte, n+alignment)
	lead := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % alignment
	return all[lead : int(lead)+n : int(lead)+n]
}
