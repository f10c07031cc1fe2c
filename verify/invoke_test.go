package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// rankCall is one rank's part of a call, as plain data, so that it can be sent to another process.
type rankCall struct {
	Primitive, Algorithm string // Algorithm "": the one that the selection table gives
	Depth                int    // 0: the selection table's
	Op                   spec.Op
	Type                 spec.Type
	Root, Peer           int
	In                   []byte // what In holds; nil: the rank passes none
	HasIn, HasOut        bool
	OutBytes             int
	// InPlace, Out's byte OutAt is In's byte InAt, if the rank passes both.
	InPlace     bool
	InAt, OutAt int
	Lead        int // elements by which the buffers are off the alignment of their memory
	Delay       time.Duration
	Form        form
	Both        bool // of Send: both ranks send and receive, one of them nothing
}

// form is how a call is made.
type form uint8

const (
	blocking form = iota
	started       // by its Start function, and waited for at once
	later         // started, and waited for when all other calls were made
	forms
)

// performAll makes calls one after the other.
func performAll(ctx context.Context, c *fast.Comm, calls []rankCall) []rankResult {
	ends := make([]func() rankResult, len(calls))
	for i := range calls {
		ends[i] = perform(ctx, c, &calls[i])
	}
	results := make([]rankResult, len(calls))
	for i, end := range ends {
		results[i] = end()
	}
	return results
}

// rankResult is what a call leaves on one rank.
type rankResult struct {
	In, Out []byte
	Err     string // of the call
	Strayed string // which memory around the buffers was written to
}

// perform makes the call. Its result is there when all calls were made.
func perform(ctx context.Context, c *fast.Comm, x *rankCall) func() rankResult {
	switch x.Type {
	case spec.TypeInt8:
		return performAs[int8](ctx, c, x)
	case spec.TypeInt16:
		return performAs[int16](ctx, c, x)
	case spec.TypeInt32:
		return performAs[int32](ctx, c, x)
	case spec.TypeInt64:
		return performAs[int64](ctx, c, x)
	case spec.TypeUint8:
		return performAs[uint8](ctx, c, x)
	case spec.TypeUint16:
		return performAs[uint16](ctx, c, x)
	case spec.TypeUint32:
		return performAs[uint32](ctx, c, x)
	case spec.TypeUint64:
		return performAs[uint64](ctx, c, x)
	case spec.TypeFloat16:
		return performAs[spec.Float16](ctx, c, x)
	case spec.TypeBFloat16:
		return performAs[spec.BFloat16](ctx, c, x)
	case spec.TypeFloat32:
		return performAs[float32](ctx, c, x)
	case spec.TypeFloat64:
		return performAs[float64](ctx, c, x)
	case spec.TypeComplex64:
		return performAs[complex64](ctx, c, x)
	case spec.TypeComplex128:
		return performAs[complex128](ctx, c, x)
	}
	return func() rankResult { return rankResult{Err: fmt.Sprintf("no such type: %v", x.Type)} }
}

func performAs[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall) func() rankResult {
	time.Sleep(x.Delay)
	var in, out, whole []T
	var memories []*guarded[T]
	if x.InPlace {
		m := newGuarded[T](x.Lead, max(len(x.In)+max(x.OutAt-x.InAt, 0), x.OutBytes+max(x.InAt-x.OutAt, 0)))
		memories, whole = append(memories, m), m.elements
		if x.HasIn {
			in = whole[max(x.OutAt-x.InAt, 0)/size[T]():][:len(x.In)/size[T]()]
		}
		if x.HasOut {
			out = whole[max(x.InAt-x.OutAt, 0)/size[T]():][:x.OutBytes/size[T]()]
		}
	} else {
		i, o := newGuarded[T](x.Lead, len(x.In)), newGuarded[T](x.Lead/2, x.OutBytes)
		memories = append(memories, i, o)
		if x.HasIn {
			in = i.elements
		}
		if x.HasOut {
			out = o.elements
		}
	}
	copy(raw(in), x.In)
	wait := invokeAs(ctx, c, x, in, out, whole)
	return func() rankResult {
		r := rankResult{}
		if err := wait(); err != nil {
			r.Err = err.Error()
		}
		r.In, r.Out = bytes.Clone(raw(in)), bytes.Clone(raw(out))
		for _, m := range memories {
			r.Strayed += m.strayed()
		}
		return r
	}
}

// invokeAs makes the call in its form, and returns what waits for its end.
func invokeAs[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, in, out, whole []T) (wait func() error) {
	var opts []fast.Option
	if x.Algorithm != "" {
		opts = append(opts, fast.WithAlgorithm(x.Algorithm))
	}
	if x.Depth > 0 {
		opts = append(opts, fast.WithDepth(x.Depth))
	}
	if x.Form == blocking {
		err := invoke(ctx, c, x, in, out, whole, opts)
		return func() error { return err }
	}
	h := start(ctx, c, x, in, out, whole, opts)
	if h == nil {
		return func() error { return nil }
	}
	if x.Form == started {
		_ = h.Wait(ctx) // again below
	}
	return func() error { return h.Wait(ctx) }
}

// invoke calls the function of the package that users call.
func invoke[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, in, out, whole []T, opts []fast.Option) error {
	if x.InPlace {
		return invokeInPlace(ctx, c, x, whole, opts)
	}
	switch x.Primitive {
	case "AllGather":
		return fast.AllGatherInto(ctx, c, out, in, opts...)
	case "AllReduce":
		return fast.AllReduceInto(ctx, c, out, in, x.Op, opts...)
	case "AllToAll":
		return fast.AllToAllInto(ctx, c, out, in, opts...)
	case "Barrier":
		return fast.Barrier(ctx, c, opts...)
	case "Broadcast":
		return fast.BroadcastInto(ctx, c, out, in, x.Root, opts...)
	case "Gather":
		return fast.GatherInto(ctx, c, out, in, x.Root, opts...)
	case "Reduce":
		return fast.ReduceInto(ctx, c, out, in, x.Op, x.Root, opts...)
	case "ReduceScatter":
		return fast.ReduceScatterInto(ctx, c, out, in, x.Op, opts...)
	case "Scatter":
		return fast.ScatterInto(ctx, c, out, in, x.Root, opts...)
	case "Send":
		return invokeSend(ctx, c, x, in, out)
	}
	return fmt.Errorf("the test does not know %s", x.Primitive)
}

// invokeSend sends and receives, in two ways, which are the same for the other rank.
func invokeSend[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, in, out []T) error {
	switch {
	case c.Rank() == x.Root && x.Both:
		return fast.SendRecv(ctx, c, in, x.Peer, nil, x.Peer)
	case c.Rank() == x.Root:
		return fast.Send(ctx, c, in, x.Peer)
	case c.Rank() == x.Peer && x.Both:
		return fast.SendRecv(ctx, c, nil, x.Root, out, x.Root)
	case c.Rank() == x.Peer:
		return fast.Recv(ctx, c, out, x.Root)
	}
	return nil
}

func invokeInPlace[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, whole []T, opts []fast.Option) error {
	switch x.Primitive {
	case "AllGather":
		return fast.AllGather(ctx, c, whole, opts...)
	case "AllReduce":
		return fast.AllReduce(ctx, c, whole, x.Op, opts...)
	case "AllToAll":
		return fast.AllToAll(ctx, c, whole, opts...)
	case "Broadcast":
		return fast.Broadcast(ctx, c, whole, x.Root, opts...)
	case "Gather":
		return fast.Gather(ctx, c, whole, x.Root, opts...)
	case "Reduce":
		return fast.Reduce(ctx, c, whole, x.Op, x.Root, opts...)
	case "ReduceScatter":
		return fast.ReduceScatter(ctx, c, whole, x.Op, opts...)
	case "Scatter":
		return fast.Scatter(ctx, c, whole, x.Root, opts...)
	}
	return fmt.Errorf("the test does not know %s in place", x.Primitive)
}

// start calls the function that starts the call. It is nil on a rank that takes no part.
func start[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, in, out, whole []T, opts []fast.Option) *fast.Handle {
	if x.InPlace {
		return startInPlace(ctx, c, x, whole, opts)
	}
	switch x.Primitive {
	case "AllGather":
		return fast.StartAllGatherInto(ctx, c, out, in, opts...)
	case "AllReduce":
		return fast.StartAllReduceInto(ctx, c, out, in, x.Op, opts...)
	case "AllToAll":
		return fast.StartAllToAllInto(ctx, c, out, in, opts...)
	case "Barrier":
		return fast.StartBarrier(ctx, c, opts...)
	case "Broadcast":
		return fast.StartBroadcastInto(ctx, c, out, in, x.Root, opts...)
	case "Gather":
		return fast.StartGatherInto(ctx, c, out, in, x.Root, opts...)
	case "Reduce":
		return fast.StartReduceInto(ctx, c, out, in, x.Op, x.Root, opts...)
	case "ReduceScatter":
		return fast.StartReduceScatterInto(ctx, c, out, in, x.Op, opts...)
	case "Scatter":
		return fast.StartScatterInto(ctx, c, out, in, x.Root, opts...)
	case "Send":
		return startSend(ctx, c, x, in, out)
	}
	return fast.Start(opts, func([]fast.Option) error { return fmt.Errorf("the test cannot start %s", x.Primitive) })
}

func startSend[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, in, out []T) *fast.Handle {
	switch {
	case c.Rank() == x.Root && x.Both:
		return fast.StartSendRecv(ctx, c, in, x.Peer, nil, x.Peer)
	case c.Rank() == x.Root:
		return fast.StartSend(ctx, c, in, x.Peer)
	case c.Rank() == x.Peer && x.Both:
		return fast.StartSendRecv(ctx, c, nil, x.Root, out, x.Root)
	case c.Rank() == x.Peer:
		return fast.StartRecv(ctx, c, out, x.Root)
	}
	return nil
}

func startInPlace[T spec.Elem](ctx context.Context, c *fast.Comm, x *rankCall, whole []T, opts []fast.Option) *fast.Handle {
	switch x.Primitive {
	case "AllGather":
		return fast.StartAllGather(ctx, c, whole, opts...)
	case "AllReduce":
		return fast.StartAllReduce(ctx, c, whole, x.Op, opts...)
	case "AllToAll":
		return fast.StartAllToAll(ctx, c, whole, opts...)
	case "Broadcast":
		return fast.StartBroadcast(ctx, c, whole, x.Root, opts...)
	case "Gather":
		return fast.StartGather(ctx, c, whole, x.Root, opts...)
	case "Reduce":
		return fast.StartReduce(ctx, c, whole, x.Op, x.Root, opts...)
	case "ReduceScatter":
		return fast.StartReduceScatter(ctx, c, whole, x.Op, opts...)
	case "Scatter":
		return fast.StartScatter(ctx, c, whole, x.Root, opts...)
	}
	return fast.Start(opts, func([]fast.Option) error { return fmt.Errorf("the test cannot start %s in place", x.Primitive) })
}

// guarded is a buffer with a strip of known memory on both sides.
type guarded[T spec.Elem] struct {
	all, elements []T
}

const strip, canary = 67, 0xa5

func newGuarded[T spec.Elem](lead, length int) *guarded[T] {
	n := length / size[T]()
	all := make([]T, strip+lead+n+strip)
	b := raw(all)
	for i := range b {
		b[i] = canary
	}
	return &guarded[T]{all, all[strip+lead : strip+lead+n : strip+lead+n]}
}

// strayed says where the strips were written to, if they were.
func (g *guarded[T]) strayed() string {
	before := len(g.all) - strip - len(g.elements)
	for i, x := range raw(g.all) {
		at := i/size[T]() - before
		if (at < 0 || at >= len(g.elements)) && x != canary {
			return fmt.Sprintf("element %d of %d ", at, len(g.elements))
		}
	}
	return ""
}

func size[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// raw is the memory of s.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// typed is the elements that lie in b, which came from make([]T) or is copied.
func typed[T any](b []byte) []T {
	s := make([]T, len(b)/size[T]())
	copy(raw(s), b)
	return s
}

// plain gives every NaN in s one pattern: payloads and signs of NaNs are not specified.
func plain[T spec.Elem](s []T) []T {
	switch s := any(s).(type) {
	case []float32:
		plainFloats(s, float32(math.NaN()))
	case []float64:
		plainFloats(s, math.NaN())
	case []complex64:
		plainFloats(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s)), float32(math.NaN()))
	case []complex128:
		plainFloats(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s)), math.NaN())
	case []spec.Float16:
		for i, x := range s {
			if f := x.Float32(); f != f {
				s[i] = spec.NewFloat16(float32(math.NaN()))
			}
		}
	case []spec.BFloat16:
		for i, x := range s {
			if f := x.Float32(); f != f {
				s[i] = spec.NewBFloat16(float32(math.NaN()))
			}
		}
	}
	return s
}

func plainFloats[F float32 | float64](s []F, nan F) {
	for i, x := range s {
		if x != x {
			s[i] = nan
		}
	}
}
