package bench

import (
	"context"
	"errors"
	"unsafe"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
	"github.com/collgen/collgen/fast/hosts"
	"github.com/collgen/collgen/fast/quantized"
	"github.com/collgen/collgen/spec"
)

// Placement is the kind of memory that buffers are in.
type Placement int

const (
	HugePages  Placement = iota // outside the Go heap
	GoHeap                      // of make
	Registered                  // of fast.Alloc
)

// Case is what one line of the results measures.
type Case struct {
	Operation
	Element      Element
	Reduction    *Reduction // nil: nothing is reduced
	Count        int        // elements per block
	Root         int
	InPlace      bool
	Placement    Placement
	Algorithm    string // "": as the table says
	Depth        int    // 0: as the table says
	Reproducible bool   // the sum

	by        *hosts.Comm        // makes the calls; nil: package fast does
	quantized *quantized.Options // how by does; nil: it does not quantize
}

// Bytes returns the size of the larger buffer of a rank.
func (c *Case) Bytes(ranks int) int { return c.Width(ranks) * c.Count * c.Element.Bytes }

// Load is a case on one rank, with its buffers. All ranks must rewrite equally often.
type Load interface {
	// Force has later calls use an algorithm and a depth; "" and 0: what the table says.
	Force(algorithm string, depth int)
	// Free frees the buffers.
	Free() error

	// rewrite gives the whole operand new values, and in place the whole buffer that it is part of, as programs do that
	// use results. A rank without an operand rewrites another buffer for as long, so that no rank's time includes the
	// rewriting of others.
	rewrite()
	call(ctx context.Context) error
	start(ctx context.Context) *fast.Handle
	// check makes a call and counts the elements of this rank that are wrong after it.
	check(ctx context.Context) (wrong int, err error)
}

// loads allocates a case's buffers on a rank, by element type.
var loads = map[string]func(ctx context.Context, comm *fast.Comm, c *Case) (Load, error){
	"float32":    loadOf(func(v float64) float32 { return float32(v) }),
	"float64":    loadOf(func(v float64) float64 { return v }),
	"float16":    loadOf(func(v float64) fast.Float16 { return spec.NewFloat16(float32(v)) }),
	"bfloat16":   loadOf(func(v float64) fast.BFloat16 { return spec.NewBFloat16(float32(v)) }),
	"int8":       loadOf(toInteger[int8]),
	"int16":      loadOf(toInteger[int16]),
	"int32":      loadOf(toInteger[int32]),
	"int64":      loadOf(toInteger[int64]),
	"uint8":      loadOf(toInteger[uint8]),
	"uint16":     loadOf(toInteger[uint16]),
	"uint32":     loadOf(toInteger[uint32]),
	"uint64":     loadOf(toInteger[uint64]),
	"float8e4m3": loadOf(func(v float64) fast.Float8E4M3 { return spec.NewFloat8E4M3(float32(v)) }),
	"float8e5m2": loadOf(func(v float64) fast.Float8E5M2 { return spec.NewFloat8E5M2(float32(v)) }),
	"bool":       loadOf(func(v float64) bool { return v != 0 }),
}

func toInteger[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](v float64) T {
	return T(int64(v))
}

func loadOf[T fast.Elem](of func(float64) T) func(context.Context, *fast.Comm, *Case) (Load, error) {
	return func(ctx context.Context, comm *fast.Comm, c *Case) (Load, error) { return newBuffers(ctx, comm, c, of) }
}

// Load allocates the buffers of c on a rank. All ranks of the communicator must call it alike.
func (c *Case) Load(ctx context.Context, comm *fast.Comm) (Load, error) {
	return loads[c.Element.Name](ctx, comm, c)
}

// buffers is the load of one element type.
type buffers[T fast.Elem] struct {
	*Case
	role
	invocation[T]
	invoke  invoke[T]
	options []fast.Option
	values  *values[T]
	shift   int            // of the values in the operand
	whole   []T            // the operand, or in place the buffer that it is part of
	before  int            // elements of whole before the operand
	frees   []func() error // for memory outside the Go heap
}

func newBuffers[T fast.Elem](ctx context.Context, comm *fast.Comm, c *Case, of func(float64) T) (Load, error) {
	b := &buffers[T]{
		Case: c, role: role{rank: comm.Rank(), ranks: comm.Size(), root: c.Root, inPlace: c.InPlace},
		invocation: invocation[T]{c: comm, root: c.Root}, invoke: invokeOf[T](c.Name),
	}
	if c.by != nil {
		b.hosts, b.invoke = c.by, inHosts[T](c.Name)
	}
	if c.quantized != nil {
		b.invoke = quantizing[T](*c.quantized)
	}
	b.values = newValues(of, c.Element.Exact, c.Reduction, comm.Size(), c.combines(b.role))
	for range comm.Size() {
		b.blocks.Counts = append(b.blocks.Counts, c.Count)
	}
	if c.Reduction != nil {
		b.op = c.Reduction.Op
	}
	b.Force(c.Algorithm, c.Depth)
	in, out := c.Operation.in.blocks(comm.Size())*c.Count, c.Operation.out.blocks(comm.Size())*c.Count
	err := b.allocate(ctx, in, out)
	if err != nil {
		err = errors.Join(err, b.Free())
	}
	return b, err
}

// allocate makes buffers of so many elements. In place, the smaller one is the rank's own block of the larger one.
func (b *buffers[T]) allocate(ctx context.Context, in, out int) (err error) {
	if !b.Case.InPlace {
		if b.in, err = b.buffer(ctx, in); err == nil {
			b.out, err = b.buffer(ctx, out)
		}
		b.whole = b.in
		return err
	}
	whole, err := b.buffer(ctx, max(in, out))
	if err != nil {
		return err
	}
	own := whole
	if in != out {
		own = whole[b.rank*b.Count:][:b.Count]
	}
	b.in, b.out, b.whole = whole, whole, whole
	switch {
	case in < out:
		b.in, b.before = own, b.rank*b.Count
	case out < in:
		b.out = own
	}
	return nil
}

// buffer returns n elements that nobody else uses. All ranks call it alike.
func (b *buffers[T]) buffer(ctx context.Context, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	switch b.Placement {
	case GoHeap:
		return make([]T, n), nil
	case Registered:
		all, err := fast.Alloc[T](ctx, b.c, n)
		if err == nil {
			b.frees = append(b.frees, func() error { return fast.Free(b.c, all) })
		}
		return all, err
	}
	m, err := machine.NewMemory(n * b.Element.Bytes)
	if err != nil {
		return nil, err
	}
	b.frees = append(b.frees, m.Free)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.Data))), n), nil
}

func (b *buffers[T]) Free() (err error) {
	for _, free := range b.frees {
		err = errors.Join(err, free())
	}
	b.frees, b.in, b.out = nil, nil, nil
	return err
}

func (b *buffers[T]) rewrite() {
	b.shift++
	fill(b.whole, b.values.inputs, b.own()+b.before*(period-1)) // so that the operand begins with its own values
}

// own returns the index of the values in the operand.
func (b *buffers[T]) own() int { return b.shift + offset*b.rank }

func (b *buffers[T]) call(ctx context.Context) error {
	return b.invoke(ctx, &b.invocation, b.options)
}

func (b *buffers[T]) start(ctx context.Context) *fast.Handle {
	return collective.Start(b.options, func(opts []fast.Option) error { return b.invoke(ctx, &b.invocation, opts) })
}

func (b *buffers[T]) Force(algorithm string, depth int) {
	b.options = nil
	if b.Reproducible {
		b.options = append(b.options, fast.Reproducible())
	}
	if algorithm != "" {
		b.options = append(b.options, fast.WithAlgorithm(algorithm))
	}
	if depth > 0 {
		b.options = append(b.options, fast.WithDepth(depth))
	}
}
