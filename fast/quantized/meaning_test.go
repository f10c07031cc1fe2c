package quantized

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

var allOptions = []Options{{}, {Block: 16}, {Format: Float8E4M3, Block: 37}, {Format: Float8E5M2, Block: 16}}

// counts returns lengths of buffers around those at which something changes.
func (o Options) counts(size int) []int {
	b := o.block()
	return []int{0, 1, size - 1, size, size + 1, b - 1, b, b + 1, 2*b + 1, size*b - 1, size * b, size*b + 1, 1009}
}

// library is what the tests test, or the same with a mistake.
type library struct {
	on    func(c *fast.Comm, o Options) (*Comm, error)
	into  func(ctx context.Context, q *Comm, dst, src []float32, op fast.Op) error
	bound func(o Options, op fast.Op, operands, maxima []float32) float64
}

func made() *library {
	return &library{New, func(ctx context.Context, q *Comm, dst, src []float32, op fast.Op) error {
		return AllReduceInto(ctx, q, dst, src, op)
	}, Options.ErrorBound}
}

// call is a rank's part of a call with the inputs of all ranks, in place or not. It returns the result.
func (l *library) call(ctx context.Context, q *Comm, inputs [][]float32, op fast.Op, inPlace bool) ([]float32, error) {
	src := slices.Clone(inputs[q.c.Rank()])
	dst := src
	if !inPlace {
		dst = slices.Repeat([]float32{-7}, len(src))
	}
	if err := l.into(ctx, q, dst, src, op); err != nil {
		return nil, err
	}
	if !inPlace && !slices.EqualFunc(src, inputs[q.c.Rank()], same) {
		return nil, fmt.Errorf("rank %d: src has changed", q.c.Rank())
	}
	return dst, nil
}

// call is a call of all ranks: with these options and inputs, in place or not, and with a result by the model.
type call struct {
	o       Options
	op      fast.Op
	inPlace bool
	name    string
	inputs  [][]float32
	want    []float32
}

// calls returns calls of so many ranks with those options.
func (o Options) calls(size int) (all []call) {
	for _, count := range o.counts(size) {
		for i, kind := range slices.Sorted(maps.Keys(kinds)) {
			x := call{o: o, op: []fast.Op{fast.Sum, fast.Avg}[(i+count)%2], inPlace: (i+count)%3 == 0}
			x.name = fmt.Sprintf("%v, %v of %d elements on %d ranks, %s", o, x.op, count, size, kind)
			x.inputs = o.inputs(kind, uint64(i+count), size, count)
			x.want = o.model(x.op, x.inputs)
			all = append(all, x)
		}
	}
	return all
}

// meaning makes a rank's part of calls, which have the same options, and compares the results with those of the model.
func meaning(ctx context.Context, c *fast.Comm, calls []call) error {
	q, err := New(c, calls[0].o)
	if err != nil {
		return err
	}
	for _, x := range calls {
		got, err := made().call(ctx, q, x.inputs, x.op, x.inPlace)
		if err != nil {
			return err
		}
		for i, want := range x.want {
			// a division by 1 may make another NaN of one
			if !same(got[i], want) && (c.Size() > 1 || got[i] == got[i] || want == want) {
				return fmt.Errorf("rank %d: %s: [%d] is %v, want %v", c.Rank(), x.name, i, got[i], want)
			}
		}
	}
	return nil
}

// TestMeaning: the results of goroutines are those of the model, bit by bit.
func TestMeaning(t *testing.T) {
	for size := 1; size <= 8; size++ {
		for _, o := range allOptions {
			calls := o.calls(size)
			if err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
				return meaning(ctx, c, calls)
			}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestWorlds: so are they in every way in which ranks talk.
func TestWorlds(t *testing.T) {
	for _, size := range []int{2, 3} {
		for _, o := range allOptions {
			calls := o.calls(size)
			for _, w := range fasttest.Worlds(fast.Init) {
				t.Run(fmt.Sprintf("%s, %d, %v", w.Name, size, o), func(t *testing.T) {
					all := w.Comms(t, size)
					fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error { return meaning(t.Context(), c, calls) }))
					fasttest.CloseAll(t, all)
				})
			}
		}
	}
}
