package verify_test

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/neighbor"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// rankCall is one rank's part of a call, as plain data, so that it can be sent to another process.
type rankCall struct {
	colltest.Call
	Algorithm string // "": it and the depth are left to the selection table
	Depth     int
	Delay     time.Duration
	// elements of each block, of which Call has the first ones, and the others repeat these; 0: Call has all
	Long  int
	Alloc bool // the rank has its buffers in memory of fast.Alloc

	options []fast.Option // of the call, in this process
}

// each returns the options as arguments.
func (x *rankCall) each() (args []any) {
	for _, o := range x.options {
		args = append(args, o)
	}
	return args
}

// takesPart reports whether the rank makes the call at all.
func (x *rankCall) takesPart() bool { return x.Memory != nil }

// sends reports whether the rank is the sender of a message.
func (x *rankCall) sends() bool { return x.InCounts != nil }

// plain returns what Memory has become, with one pattern for all NaNs: which one a reduction yields is not specified.
func (x *rankCall) plain(memory []byte) []byte {
	c := x.Call
	c.Memory = memory
	c = *c.Clone()
	colltest.PlainNaN(c.Type, c.In())
	colltest.PlainNaN(c.Type, c.Out())
	return c.Memory
}

// rankResult is what a call leaves on one rank.
type rankResult struct {
	Memory []byte // the buffers, and what lies around them
	Err    string // of the call
}

// rankBuffers are the buffers of a rank's part of a call, and how it is made.
type rankBuffers interface {
	invoke(ctx context.Context, start bool, receive rankBuffers) (*fast.Handle, error)
	// message sends or receives by package message.
	message(ctx context.Context, start bool) (handle, error)
	// exchange makes a call among the neighbours in a graph.
	exchange(ctx context.Context, g *neighbor.Graph, start bool) (handle, error)
	// result is what is in memory when the call is over.
	result(err error) rankResult
	// release ends the use of the buffers.
	release()
}

type buffers[T spec.Elem] struct {
	c              *fast.Comm
	x              *rankCall
	in, out, whole []T // whole: in place, the one buffer
}

// arrange takes a copy of x, because the call writes to its memory.
func (of[T]) arrange(ctx context.Context, c *fast.Comm, x *rankCall) rankBuffers {
	if x.Long > 0 {
		return of[T]{}.arrangeLong(ctx, c, x)
	}
	mine := *x
	mine.Call = *x.Clone()
	return of[T]{}.over(c, &mine)
}

func (of[T]) over(c *fast.Comm, x *rankCall) rankBuffers {
	return &buffers[T]{c, x, colltest.As[T](x.In()), colltest.As[T](x.Out()), colltest.As[T](x.Whole())}
}

func (b *buffers[T]) result(err error) rankResult {
	r := rankResult{Memory: b.x.Memory}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

func (b *buffers[T]) release() {}
