package fast

import (
	"context"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Bucket reduces many small tensors in few calls, while the program makes the next ones ready: it puts them one after
// the other into a flat buffer, and starts the all-reduce of that as soon as it is full. All ranks add tensors of the
// same lengths in the same order, and call Wait at the same places; so they fuse the same ones. A hash of the lengths
// and labels, of 24 bits, is compared: ranks that have fused others get a MismatchError, unless the hashes happen to be
// the same. Without labels, nobody sees that two tensors of one length change places. A step of training adds each
// gradient as soon as it is known, and then waits:
//
//	for each layer, the last one first {
//		… its gradient …
//		err := b.Add(ctx, gradient, fast.WithLabel(name))
//	}
//	err := b.Wait(ctx)
//
// A Bucket is used by one goroutine at a time. Its calls are started calls of its Comm, which other calls may come
// between. It allocates nothing when it is used again. If a call of it fails, it is of no use any more, and its Comm is
// given up, because the other ranks make the calls that follow.
type Bucket[T Elem] struct {
	c       *Comm
	op      Op
	limit   int               // elements of a flat buffer
	slots   [inFlight]slot[T] // used in turn
	next    int
	filling *slot[T] // the one that tensors are copied into; nil: none yet
	err     error    // the first
}

// inFlight is how many all-reduces a Bucket has at a time, the one that is filled included.
const inFlight = 4

// slot is an all-reduce of a Bucket.
type slot[T Elem] struct {
	flat    []T
	used    int
	tensors [][]T        // that lie in flat, one after the other
	fused   exec.Lengths // they, or the one that goes alone
	started bool
	handle  Handle
	opts    []Option
}

// NewBucket returns a bucket for tensors that are reduced with op on c. Its buffers have so many bytes each; larger
// tensors go alone, and are not copied. It fails with ErrInvalidArgument if they have room for no element, or more than
// 16 GiB, if c is nil, or if op is not defined on T.
func NewBucket[T Elem](c *Comm, op Op, bytes int) (*Bucket[T], error) {
	limit := bytes / int(unsafe.Sizeof(*new(T)))
	switch t := spec.TypeOf[T](); {
	case c == nil || c.size == 0:
		return nil, wire.Refuse("NewBucket", "the communicator is nil or was made by neither Run nor Init")
	case !op.Takes(t):
		return nil, wire.Refuse("NewBucket", "op %v is not defined on %v", op, t)
	case limit < 1:
		return nil, wire.Refuse("NewBucket", "buffers of %d bytes have room for no element", bytes)
	case bytes > exec.MaxScratch:
		return nil, wire.Refuse("NewBucket", "buffers of %d bytes, want at most 16 GiB", bytes)
	}
	b := &Bucket[T]{c: c, op: op, limit: limit}
	for i := range b.slots {
		s := &b.slots[i]
		s.handle = Handle{done: make(chan struct{}, 1), again: true, isCall: true}
		s.opts = []Option{{Kind: exec.StartOption, Handle: &s.handle}, {Kind: exec.FusedOption, Fused: &s.fused}}
	}
	return b, nil
}

// Add has tensor reduced in place. It belongs to the bucket until Wait has returned nil. Add waits only for an
// all-reduce, if there are too many on their way; the end of ctx ends that, and then tensor is not added. The context
// governs the calls that Add starts. WithLabel is the only option that a tensor may have; an empty one is left out,
// with its label.
func (b *Bucket[T]) Add(ctx context.Context, tensor []T, opts ...Option) error {
	label, err := exec.OnlyLabel("Bucket.Add", opts)
	switch {
	case b.err != nil:
		return b.err
	case err != nil || len(tensor) == 0:
		return err
	case len(tensor) > b.limit:
		return b.addAlone(ctx, tensor, label)
	}
	return b.addToFlat(ctx, tensor, label)
}

func (b *Bucket[T]) addAlone(ctx context.Context, tensor []T, label string) error {
	s, err := b.free(ctx)
	if err != nil {
		return err
	}
	s.fused.AddLabelled(len(tensor), label)
	return b.start(ctx, s, tensor)
}

func (b *Bucket[T]) addToFlat(ctx context.Context, tensor []T, label string) error {
	if b.filling != nil && len(tensor) > b.limit-b.filling.used {
		if err := b.startFilling(ctx); err != nil {
			return err
		}
	}
	if b.filling == nil {
		s, err := b.free(ctx)
		if err != nil {
			return err
		}
		if s.flat == nil {
			s.flat = make([]T, b.limit)
		}
		b.filling = s
	}
	s := b.filling
	s.used += copy(s.flat[s.used:], tensor)
	s.tensors = append(s.tensors, tensor)
	s.fused.AddLabelled(len(tensor), label)
	if s.used == b.limit {
		return b.startFilling(ctx)
	}
	return nil
}

// startFilling starts the all-reduce of the buffer that is being filled, if any is.
func (b *Bucket[T]) startFilling(ctx context.Context) error {
	s := b.filling
	if s == nil {
		return nil
	}
	b.filling = nil
	return b.start(ctx, s, s.flat[:s.used])
}

// start starts the all-reduce of a slot.
func (b *Bucket[T]) start(ctx context.Context, s *slot[T], data []T) error {
	s.handle.rearm()
	b.err = AllReduce(ctx, b.c, data, b.op, s.opts...)
	s.started = b.err == nil
	return b.err
}

// free returns the next slot, when what was in it is done.
func (b *Bucket[T]) free(ctx context.Context) (*slot[T], error) {
	s := &b.slots[b.next]
	if s == b.filling {
		if err := b.startFilling(ctx); err != nil {
			return nil, err
		}
	}
	if err := b.finish(ctx, s); err != nil {
		return nil, err
	}
	b.next = (b.next + 1) % len(b.slots)
	return s, nil
}

// finish waits for the all-reduce of s, and copies the results back.
func (b *Bucket[T]) finish(ctx context.Context, s *slot[T]) error {
	if !s.started {
		return nil
	}
	if err := s.handle.Wait(ctx); err != nil {
		b.err = s.handle.Err() // nil: only the waiting has ended
		return err
	}
	rest := s.flat
	for _, tensor := range s.tensors {
		rest = rest[copy(tensor, rest):]
	}
	clear(s.tensors)
	s.tensors, s.fused, s.used, s.started = s.tensors[:0], exec.Lengths{}, 0, false
	return nil
}

// Wait starts what is not full, waits for everything, and returns when all tensors hold their results. Then the bucket
// is empty, and may be used again. If ctx ends first, only the waiting has ended, and Wait may be called again.
func (b *Bucket[T]) Wait(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	if err := b.startFilling(ctx); err != nil {
		return err
	}
	for range b.slots {
		if _, err := b.free(ctx); err != nil {
			return err
		}
	}
	return nil
}
