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

// World is a group of ranks that make calls together. It makes many calls, and is closed after one that failed. A World
// may be a [Starter], a [Preparer] and a [Splitter], too.
type World interface {
	// Call makes one rank's part of a call, and returns when the rank has completed it. Every rank has its own
	// goroutine, which makes the rank's calls one after the other. A call that is running when ctx ends has failed, and
	// should return soon. An error that wraps ErrCannot says that all ranks leave this call out.
	Call(ctx context.Context, rank int, c *Call) error
	// Close ends the ranks, even during calls, and returns when they have ended.
	Close() error
}

// Starter is a World whose calls can be started. The capabilities Started and Batches say for what.
type Starter interface {
	// Start begins a rank's part of calls, of several as one batch, and returns what waits for each of them. It does not
	// wait for other ranks. Calls that were started go on while others are made. Ctx ends when they are over, or before
	// that if they are to end.
	Start(ctx context.Context, rank int, calls ...*Call) []Wait
}

// Wait returns when a call that was started is over, with its error. It is called once, by the rank's goroutine.
type Wait func(ctx context.Context) error

// Preparer is a World with persistent calls, as the capability Persistent says.
type Preparer interface {
	// Prepare prepares a rank's part of a call, which may then be made several times in the same memory.
	Prepare(ctx context.Context, rank int, c *Call) (Prepared, error)
}

// Prepared is a call that was prepared.
type Prepared interface {
	// Start begins the call. What it returns is called before Start is called again.
	Start(ctx context.Context) Wait
	// Close frees the call.
	Close() error
}

// Splitter is a World with communicators of some ranks, as the capability Split says.
type Splitter interface {
	// Split makes communicator comm, which is at least 1, of the ranks that call it with the same color, in the order of
	// their keys, and of ranks if keys are equal. All ranks of the world call it. Those with color -1 get none. The
	// numbers ascend in the life of a world.
	Split(ctx context.Context, rank, comm, color, key int) error
	// Free frees a communicator. All its ranks call it.
	Free(ctx context.Context, rank, comm int) error
}

// ErrCannot says that an implementation does not support a call, though it does others that its Capabilities do not
// tell from it. The call counts as not tested.
var ErrCannot = errors.New("the implementation cannot make the call")

// Call is one rank's part of a call, as plain data.
type Call struct {
	Primitive  string // as spec names it
	Type       spec.Type
	Op         spec.Op // of a reduction
	Root, Peer int     // if the primitive has them: ranks of the communicator
	Comm       int     // the communicator that Split has made; 0: that of all ranks
	Tag        int     // of a Send, from 0 on

	// InCounts and OutCounts are the numbers of elements in each block of In and Out; nil: the rank has no such buffer.
	InCounts, OutCounts []int
	// InStarts and OutStarts say where blocks begin, in elements; nil: one after the other. Between blocks may be gaps,
	// which must not change.
	InStarts, OutStarts []int
	// Uneven says that each block has a count of its own. MPI has V forms for such calls. It is the same on all ranks.
	Uneven bool
	// InPlace says that In and Out share memory as the primitive allows it, if the rank has both.
	InPlace bool
	// Memory contains In and Out, which begin at bytes InAt and OutAt. Around them are known bytes, which must not
	// change. If the capability is Direct, their owner changes them while a call that was started is open, and a call
	// must not undo that. Memory is aligned to 64 bytes, In and Out to elements.
	Memory      []byte
	InAt, OutAt int
}

// In returns the rank's input buffer, with its gaps, nil if it has none.
func (c *Call) In() []byte { return c.buffer(c.InAt, c.InCounts, c.InStarts) }

// Out returns the rank's output buffer, with its gaps, nil if it has none.
func (c *Call) Out() []byte { return c.buffer(c.OutAt, c.OutCounts, c.OutStarts) }

// InBlock returns block b of In.
func (c *Call) InBlock(b int) []byte { return c.block(c.InAt, c.InCounts, c.InStarts, b) }

// OutBlock returns block b of Out.
func (c *Call) OutBlock(b int) []byte { return c.block(c.OutAt, c.OutCounts, c.OutStarts, b) }

func (c *Call) block(at int, counts, starts []int, b int) []byte {
	if starts == nil {
		starts = inOrder(counts)
	}
	at += starts[b] * c.Type.Bytes()
	n := counts[b] * c.Type.Bytes()
	return c.Memory[at : at+n : at+n]
}

// Whole returns the buffer of a call in place: the longer one of In and Out, which contains the other.
func (c *Call) Whole() []byte {
	if len(c.Out()) > len(c.In()) || c.InCounts == nil {
		return c.Out()
	}
	return c.In()
}

func (c *Call) buffer(at int, counts, starts []int) []byte {
	if counts == nil {
		return nil
	}
	n := span(counts, starts) * c.Type.Bytes()
	return c.Memory[at : at+n : at+n]
}

// span returns the number of elements of a buffer with its gaps.
func span(counts, starts []int) (end int) {
	if starts == nil {
		return total(counts)
	}
	for b, start := range starts {
		end = max(end, start+counts[b])
	}
	return end
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
