package main

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast"
)

// trial is what one line of the results is about.
type trial struct {
	operation
	element   element
	folding   *folding // nil: nothing is reduced
	count     int      // elements per block
	root      int
	inPlace   bool
	home      home
	algorithm string
	depth     int
}

// bytes returns the size of the larger buffer of a rank.
func (t *trial) bytes(ranks int) int { return t.width(ranks) * t.count * t.element.bytes }

// load is a trial on one rank, with its buffers. All ranks rewrite equally often.
type load interface {
	// rewrite gives all of the operand other values, and in place all of the buffer that it is in, as programs do that
	// use results. It is as long on ranks without an operand, which rewrite a buffer that is not passed, so that no
	// rank's time has the rewriting of others in it.
	rewrite()
	call(ctx context.Context) error
	// start starts a call.
	start(ctx context.Context) *fast.Handle
	// force has calls made by that algorithm, with that depth, from now on; "" and 0: as the table says.
	force(algorithm string, depth int)
	// check makes a call, and counts the elements that are not as they have to be afterwards on this rank.
	check(ctx context.Context) (wrong int, err error)
	free() error
}

// buffers is the load of one element type.
type buffers[T fast.Elem] struct {
	*trial
	role
	invocation[T]
	invoke  invoke[T]
	options []fast.Option
	values  *values[T]
	shift   int            // of the values in the operand
	whole   []T            // the operand, or in place the buffer that it is in
	before  int            // elements of whole before the operand
	frees   []func() error // of the memory that is not the Go heap's
}

func newBuffers[T fast.Elem](ctx context.Context, c *fast.Comm, t *trial, of func(float64) T) (load, error) {
	b := &buffers[T]{
		trial: t, role: role{rank: c.Rank(), ranks: c.Size(), root: t.root, inPlace: t.inPlace},
		invocation: invocation[T]{c: c, root: t.root}, invoke: invokeOf[T](t.name),
		values: newValues(of, t.element.exact, t.folding, c.Size()),
	}
	if t.folding != nil {
		b.op = t.folding.op
	}
	b.force(t.algorithm, t.depth)
	in, out := t.operation.in.blocks(c.Size())*t.count, t.operation.out.blocks(c.Size())*t.count
	err := b.allocate(ctx, in, out)
	if err != nil {
		err = errors.Join(err, b.free())
	}
	return b, err
}

// allocate makes buffers of so many elements. In place, the smaller one is the rank's own block of the larger one.
func (b *buffers[T]) allocate(ctx context.Context, in, out int) (err error) {
	if !b.trial.inPlace {
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
		own = whole[b.rank*b.count:][:b.count]
	}
	b.in, b.out, b.whole = whole, whole, whole
	switch {
	case in < out:
		b.in, b.before = own, b.rank*b.count
	case out < in:
		b.out = own
	}
	return nil
}

func (b *buffers[T]) rewrite() {
	b.shift++
	fill(b.whole, b.values.inputs, b.own()+b.before*(period-1)) // so that the operand begins with its own
}

// own returns the index of the values in the operand.
func (b *buffers[T]) own() int { return b.shift + apart*b.rank }

func (b *buffers[T]) call(ctx context.Context) error {
	return b.invoke(ctx, &b.invocation, b.options)
}

func (b *buffers[T]) force(algorithm string, depth int) {
	b.options = nil
	if algorithm != "" {
		b.options = append(b.options, fast.WithAlgorithm(algorithm))
	}
	if depth > 0 {
		b.options = append(b.options, fast.WithDepth(depth))
	}
}
