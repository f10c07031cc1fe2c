package commtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/spec"
)

// preMul is one rank of a test whose operands are multiplied. All numbers are small, so that sums are exact.
type preMul[T fast.Elem] struct {
	c      *fast.Comm
	count  int
	number func(x int) T
	scaled bool // there are factors
}

// multiplied is a call with a factor. It returns what a rank has then, and what it should have.
type multiplied[T fast.Elem] struct {
	name string
	call func(opts []fast.Option) (got, want []T, err error)
}

// operand returns element i of the operand of a rank. It is not 0, whose sign a factor changes.
func operand(rank, i int) int { return 1 + (i+rank)%5 }

// factor returns that of a rank, and whether it has one: the last of several has none.
func (p preMul[T]) factor(rank int) (factor int, has bool) {
	if !p.scaled || rank > 0 && rank == p.c.Size()-1 {
		return 1, false
	}
	return rank - 1, true
}

// operands returns n elements of this rank.
func (p preMul[T]) operands(n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = p.number(operand(p.c.Rank(), i))
	}
	return x
}

// sums returns the sums of the products of so many ranks, for elements from to to.
func (p preMul[T]) sums(ranks, from, to int) []T {
	var all []T
	for i := from; i < to; i++ {
		sum := 0
		for r := range ranks {
			factor, _ := p.factor(r)
			sum += factor * operand(r, i)
		}
		all = append(all, p.number(sum))
	}
	return all
}

func (p preMul[T]) calls(t *testing.T) []multiplied[T] {
	ctx, c, n, rank, size := t.Context(), p.c, p.count, p.c.Rank(), p.c.Size()
	counts := make([]int, size)
	for i := range counts {
		counts[i] = n + i%2
	}
	first := sum(counts[:rank])
	return []multiplied[T]{
		{"AllReduce", func(opts []fast.Option) ([]T, []T, error) {
			x := p.operands(n)
			return x, p.sums(size, 0, n), fast.AllReduce(ctx, c, x, fast.Sum, opts...)
		}},
		{"AllReduceInto", func(opts []fast.Option) ([]T, []T, error) {
			x, in := make([]T, n), p.operands(n)
			err := fast.AllReduceInto(ctx, c, x, in, fast.Sum, opts...)
			return append(x, in...), append(p.sums(size, 0, n), p.operands(n)...), err
		}},
		{"Reduce", func(opts []fast.Option) ([]T, []T, error) {
			x, root := p.operands(n), size/2
			want := p.operands(n)
			if rank == root {
				want = p.sums(size, 0, n)
			}
			return x, want, fast.Reduce(ctx, c, x, fast.Sum, root, opts...)
		}},
		{"ReduceScatter", func(opts []fast.Option) ([]T, []T, error) {
			x, want := p.operands(n*size), p.operands(n*size)
			copy(want[rank*n:], p.sums(size, rank*n, rank*n+n))
			return x, want, fast.ReduceScatter(ctx, c, x, fast.Sum, opts...)
		}},
		{"ReduceScatterV", func(opts []fast.Option) ([]T, []T, error) {
			x := make([]T, counts[rank])
			return x, p.sums(size, first, first+len(x)), fast.ReduceScatterVInto(ctx, c, x, p.operands(sum(counts)),
				fast.Blocks{Counts: counts}, fast.Sum, opts...)
		}},
		{"AllReduce, average", func(opts []fast.Option) ([]T, []T, error) {
			x := p.operands(n)
			for i := range x {
				x[i] = p.number(operand(rank, i) * size)
			}
			return x, p.sums(size, 0, n), fast.AllReduce(ctx, c, x, fast.Avg, opts...)
		}},
		{"StartReduceScatterV", func(opts []fast.Option) ([]T, []T, error) {
			x := make([]T, counts[rank])
			return x, p.sums(size, first, first+len(x)), fast.StartReduceScatterVInto(ctx, c, x, p.operands(sum(counts)),
				fast.Blocks{Counts: counts}, fast.Sum, opts...).Wait(ctx)
		}},
		{"Persistent ReduceScatterV", func(opts []fast.Option) ([]T, []T, error) {
			x, in := make([]T, counts[rank]), p.operands(sum(counts))
			call, err := c.Prepare(func(opt fast.Option) error {
				return fast.ReduceScatterVInto(ctx, c, x, in, fast.Blocks{Counts: counts}, fast.Sum, append(opts, opt)...)
			})
			if err != nil {
				return nil, nil, err
			}
			return x, p.sums(size, first, first+len(x)), errors.Join(call.Do(ctx), call.Do(ctx))
		}},
		{"Exscan", func(opts []fast.Option) ([]T, []T, error) {
			x, want := p.operands(n), p.operands(n)
			if rank > 0 {
				want = p.sums(rank, 0, n)
			}
			return x, want, fast.Exscan(ctx, c, x, fast.Sum, opts...)
		}},
		{"Scan", func(opts []fast.Option) ([]T, []T, error) {
			x := p.operands(n)
			return x, p.sums(rank+1, 0, n), fast.Scan(ctx, c, x, fast.Sum, opts...)
		}},
		{"StartAllReduce", func(opts []fast.Option) ([]T, []T, error) {
			x := p.operands(n)
			return x, p.sums(size, 0, n), fast.StartAllReduce(ctx, c, x, fast.Sum, opts...).Wait(ctx)
		}},
		{"Persistent", func(opts []fast.Option) ([]T, []T, error) {
			x, in := make([]T, n), p.operands(n)
			call, err := c.Prepare(func(opt fast.Option) error {
				return fast.AllReduceInto(ctx, c, x, in, fast.Sum, append(opts, opt)...)
			})
			if err != nil {
				return nil, nil, err
			}
			return x, p.sums(size, 0, n), errors.Join(call.Do(ctx), call.Do(ctx))
		}},
	}
}

// check makes all calls with these options, each with factors and then without.
func (p preMul[T]) check(t *testing.T, opts ...fast.Option) error {
	with := slices.Clone(opts)
	p.scaled = true
	if factor, has := p.factor(p.c.Rank()); has {
		with = append(with, fast.WithPreMul(float64(factor)))
	}
	scaled := p.calls(t)
	p.scaled = false
	for i, plain := range p.calls(t) {
		got, want, err := scaled[i].call(slices.Clip(with))
		if err == nil && slices.Equal(got, want) {
			got, want, err = plain.call(slices.Clip(opts))
		}
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("%s of %d elements: %v, or %v instead of %v", plain.name, p.count, err, got, want)
		}
	}
	return nil
}

// TestPreMul has each rank's operands multiplied by a factor of its own, in all calls that reduce, over all ways of
// talking.
func TestPreMul(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprintf("%s/%d", w.Name, size), func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
					for _, n := range []int{0, 1, 7, 5000} {
						float := preMul[float32]{c: c, count: n, number: func(x int) float32 { return float32(x) }}
						half := func(x int) fast.Float16 { return spec.NewFloat16(float32(x)) }
						pair := func(x int) complex64 { return complex(float32(x), float32(2*x)) }
						if err := errors.Join(float.check(t), float.check(t, fast.Reproducible()),
							preMul[float64]{c: c, count: n, number: func(x int) float64 { return float64(x) }}.check(t),
							preMul[fast.Float16]{c: c, count: n, number: half}.check(t),
							preMul[complex64]{c: c, count: n, number: pair}.check(t),
						); err != nil {
							return err
						}
					}
					return nil
				}))
			})
		}
	}
}

// TestPreMulAlgorithms has operands multiplied whatever the algorithm is, in place and not.
func TestPreMulAlgorithms(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		all := worlds[0].Comms(t, size)
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
			p := preMul[float32]{c: c, count: 40, number: func(x int) float32 { return float32(x) }, scaled: true}
			for _, x := range p.calls(t) {
				for _, algorithm := range fast.Algorithms(x.name) { // none, if that is not the name of a collective
					opts := []fast.Option{fast.WithAlgorithm(algorithm)}
					if factor, has := p.factor(c.Rank()); has {
						opts = append(opts, fast.WithPreMul(float64(factor)))
					}
					got, want, err := x.call(slices.Clip(opts))
					if errors.Is(err, fast.ErrInvalidArgument) {
						continue // it is for other numbers of ranks
					}
					if err != nil || !slices.Equal(got, want) {
						return fmt.Errorf("%s by %s: %v instead of %v: %w", x.name, algorithm, got, want, err)
					}
				}
			}
			return nil
		}))
		fasttest.CloseAll(t, all)
	}
}

// TestPreMulRefused: a factor is refused where it means nothing, before anything is sent.
func TestPreMulRefused(t *testing.T) {
	all := worlds[0].Comms(t, 2)
	defer fasttest.CloseAll(t, all)
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		ctx, half, x := t.Context(), fast.WithPreMul(0.5), []float32{1}
		for i, err := range []error{
			fast.AllReduce(ctx, c, []int{1}, fast.Sum, half),
			fast.AllReduce(ctx, c, x, fast.Max, half),
			fast.AllReduce(ctx, c, x, fast.Prod, half),
			fast.AllReduce(ctx, c, x, absMaxOp, half),
			fast.Broadcast(ctx, c, x, 0, half),
			fast.MonitoredBarrier(ctx, c, half),
		} {
			if !errors.Is(err, fast.ErrInvalidArgument) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		return fast.AllReduce(ctx, c, x, fast.Sum, half)
	}))
}

// TestPreMulNaN: a factor that is a NaN or an infinity is a factor, too.
func TestPreMulNaN(t *testing.T) {
	all := worlds[0].Comms(t, 2)
	defer fasttest.CloseAll(t, all)
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		for _, factor := range []float64{math.NaN(), math.Inf(1)} {
			x, opts := []float64{1, 1}, []fast.Option{}
			if c.Rank() == 1 {
				opts = append(opts, fast.WithPreMul(factor))
			}
			if err := fast.AllReduce(t.Context(), c, x, fast.Sum, opts...); err != nil || x[1]-x[1] == 0 {
				return fmt.Errorf("a sum with %v times 1 is %v: %w", factor, x, err)
			}
		}
		return nil
	}))
}
