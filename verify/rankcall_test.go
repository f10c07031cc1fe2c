package verify_test

import (
	"bytes"
	"context"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// rankCall is one rank's part of a call, as plain data, so that it can be sent to another process.
type rankCall struct {
	Primitive, Algorithm string // Algorithm "": it and the depth are left to the selection table
	Depth                int
	Op                   spec.Op
	Type                 spec.Type
	Root, Peer           int
	In                   []byte // what In holds
	HasIn, HasOut        bool   // the rank passes this buffer
	OutBytes             int
	// InPlace, Out's byte OutAt is In's byte InAt, if the rank passes both.
	InPlace     bool
	InAt, OutAt int
	Lead        int // elements by which the buffers are off the alignment of their memory
	Delay       time.Duration
}

// takesPart tells whether the rank makes the call at all.
func (x *rankCall) takesPart() bool {
	return x.Primitive != spec.Send.Name || x.HasIn || x.HasOut
}

// rankResult is what a call leaves on one rank.
type rankResult struct {
	In, Out []byte
	Err     string // of the call
	Strayed string // which memory around the buffers was written to
}

// rankBuffers are the buffers of a rank's part of a call, and how it is made.
type rankBuffers interface {
	invoke(ctx context.Context, start bool, receive rankBuffers) (*fast.Handle, error)
	// result is what is in the buffers when the call is over.
	result(err error) rankResult
}

type buffers[T spec.Elem] struct {
	c              *fast.Comm
	x              *rankCall
	in, out, whole []T // whole: in place, the one buffer
	memories       []*guarded[T]
}

func (of[T]) arrange(c *fast.Comm, x *rankCall) rankBuffers {
	b := &buffers[T]{c: c, x: x}
	if x.InPlace {
		b.arrangeInPlace()
	} else {
		i, o := newGuarded[T](x.Lead, len(x.In)), newGuarded[T](x.Lead/2, x.OutBytes)
		b.memories = append(b.memories, i, o)
		if x.HasIn {
			b.in = i.elements
		}
		if x.HasOut {
			b.out = o.elements
		}
	}
	copy(raw(b.in), x.In)
	return b
}

func (b *buffers[T]) arrangeInPlace() {
	x := b.x
	before, after := max(x.OutAt-x.InAt, 0), max(x.InAt-x.OutAt, 0) // bytes of Out before In, and of In before Out
	m := newGuarded[T](x.Lead, max(before+len(x.In), after+x.OutBytes))
	b.memories, b.whole = append(b.memories, m), m.elements
	if x.HasIn {
		b.in = b.whole[before/size[T]():][:len(x.In)/size[T]()]
	}
	if x.HasOut {
		b.out = b.whole[after/size[T]():][:x.OutBytes/size[T]()]
	}
}

func (b *buffers[T]) result(err error) rankResult {
	r := rankResult{In: bytes.Clone(raw(b.in)), Out: bytes.Clone(raw(b.out))}
	if err != nil {
		r.Err = err.Error()
	}
	for _, m := range b.memories {
		r.Strayed += m.strayed()
	}
	return r
}
