package hosts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/quantized"
)

var quantizations = []quantized.Options{{}, {Format: quantized.Float8E4M3, Block: 16}, {Format: quantized.Float8E5M2}}

// floats returns inputs of all ranks: numbers whose sums float64 has exactly.
func floats(size, count int) [][]float32 {
	all := make([][]float32, size)
	for rank := range all {
		r := rand.New(rand.NewPCG(1, uint64(rank)))
		for range count {
			all[rank] = append(all[rank], float32(r.IntN(1<<24)-1<<23)*0x1p-20)
		}
	}
	return all
}

// quantizedInto is AllReduceQuantizedInto.
type quantizedInto = func(ctx context.Context, h *Comm, dst, src []float32, op fast.Op, o quantized.Options) error

// quantized makes a rank's part of calls, and returns an error if a result is outside the bound, or is not that of rank
// 0.
func (p placement) quantized(ctx context.Context, h *Comm, into quantizedInto) error {
	for i, o := range quantizations {
		op := []fast.Op{fast.Sum, fast.Avg}[i%2]
		for _, count := range []int{0, 1, 5, 17, 1009} {
			inputs := floats(len(p), count)
			src, dst := slices.Clone(inputs[h.rank()]), slices.Repeat([]float32{-7}, count)
			if err := into(ctx, h, dst, src, op, o); err != nil {
				return err
			}
			if !slices.Equal(src, inputs[h.rank()]) {
				return fmt.Errorf("rank %d: %w: src has changed", h.rank(), errMeaning)
			}
			if err := p.within(o, op, dst, inputs); err != nil {
				return err
			}
			if err := alike(ctx, h, dst); err != nil {
				return err
			}
			if err := into(ctx, h, src, src, op, o); err != nil {
				return err
			}
			if !slices.Equal(src, dst) {
				return fmt.Errorf("rank %d: %w: another result in place", h.rank(), errMeaning)
			}
		}
	}
	return nil
}

// within returns an error if a result is outside the bound.
func (p placement) within(o quantized.Options, op fast.Op, got []float32, inputs [][]float32) error {
	maxima, operands := make([]float32, len(p)), make([]float32, len(p))
	for rank, in := range inputs { // of whole buffers, which are no less than those of blocks
		for _, x := range in {
			maxima[rank] = max(maxima[rank], float32(math.Abs(float64(x))))
		}
	}
	for i := range got {
		exact := 0.0
		for rank, in := range inputs {
			operands[rank] = in[i]
			exact += float64(in[i])
		}
		if op == fast.Avg {
			exact /= float64(len(p))
		}
		if off, bound := math.Abs(float64(got[i])-exact), o.ErrorBound(op, operands, maxima); !(off <= bound*(1+0x1p-40)) {
			return fmt.Errorf("%w: %v: %v, %v of %v is %v, off by %v, and the bound is %v", errMeaning, p, o, op, operands,
				got[i], off, bound)
		}
	}
	return nil
}

// alike returns an error if a result is not that of rank 0.
func alike(ctx context.Context, h *Comm, got []float32) error {
	first := slices.Clone(got)
	if err := Broadcast(ctx, h, first, 0); err != nil {
		return err
	}
	if !slices.Equal(got, first) {
		return fmt.Errorf("rank %d: %w: another result than on rank 0", h.rank(), errMeaning)
	}
	return nil
}

// quantizedGoroutines has goroutines make calls.
func (p placement) quantizedGoroutines(ctx context.Context, into quantizedInto) error {
	return fast.Run(ctx, len(p), func(ctx context.Context, c *fast.Comm) error {
		h, err := on(ctx, c, p.hosts())
		if err != nil {
			return err
		}
		defer h.Close()
		return p.quantized(ctx, h, into)
	})
}

// TestQuantized: for goroutines on some hosts.
func TestQuantized(t *testing.T) {
	for _, p := range some {
		if err := p.quantizedGoroutines(t.Context(), AllReduceQuantizedInto); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// TestQuantizedPlanted: each mistake is seen.
func TestQuantizedPlanted(t *testing.T) {
	for name, into := range map[string]quantizedInto{
		"nothing is divided": func(ctx context.Context, h *Comm, dst, src []float32, _ fast.Op, o quantized.Options) error {
			return AllReduceQuantizedInto(ctx, h, dst, src, fast.Sum, o)
		},
		"ranks quantize": func(ctx context.Context, h *Comm, dst, src []float32, op fast.Op, o quantized.Options) error {
			q, err := quantized.New(h.c, quantized.Options{Format: quantized.Float8E5M2})
			if err != nil {
				return err
			}
			return quantized.AllReduceInto(ctx, q, dst, src, op)
		},
		"leaders alone get the result": func(ctx context.Context, h *Comm, dst, src []float32, op fast.Op,
			o quantized.Options) error {
			err := AllReduceQuantizedInto(ctx, h, dst, src, op, o)
			if !h.leads() {
				clear(dst)
			}
			return err
		},
	} {
		if err := (placement{0, 1, 0, 1, 2}).quantizedGoroutines(t.Context(), into); !errors.Is(err, errMeaning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestQuantizedMixed: over shared memory on hosts and TCP between them.
func TestQuantizedMixed(t *testing.T) {
	p := placement{0, 1, 0, 1, 1}
	all := p.init(t)
	defer fasttest.CloseAll(t, all)
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		h, err := New(t.Context(), c)
		if err != nil {
			return err
		}
		defer h.Close()
		return p.quantized(t.Context(), h, AllReduceQuantizedInto)
	}))
}

// TestQuantizedRefused: wrong arguments are refused, and do no harm.
func TestQuantizedRefused(t *testing.T) {
	o := quantized.Options{}
	for _, p := range []placement{{0, 0}, {0, 1}, {0, 0, 1}} {
		if err := fast.Run(t.Context(), len(p), func(ctx context.Context, c *fast.Comm) error {
			h, err := on(ctx, c, p.hosts())
			if err != nil {
				return err
			}
			defer h.Close()
			buf := make([]float32, 4)
			for _, err := range []error{
				AllReduceQuantized(ctx, nil, buf, fast.Sum, o), AllReduceQuantized(ctx, h, buf, fast.Max, o),
				AllReduceQuantized(ctx, h, buf, fast.Sum, quantized.Options{Block: 1}),
				AllReduceQuantizedInto(ctx, h, buf, buf[1:], fast.Sum, o),
				AllReduceQuantizedInto(ctx, h, buf[1:], buf[:3], fast.Sum, o),
			} {
				if !errors.Is(err, fast.ErrInvalidArgument) {
					t.Errorf("%v: %v", p, err)
				}
			}
			return AllReduceQuantized(ctx, h, buf, fast.Sum, o)
		}); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// TestQuantizedMismatches: ranks that quantize otherwise than the others, or not at all, are found.
func TestQuantizedMismatches(t *testing.T) {
	p := placement{0, 1, 0, 1, 2}
	for name, odd := range map[string]func(ctx context.Context, h *Comm, buf []float32) error{
		"format": func(ctx context.Context, h *Comm, buf []float32) error {
			return AllReduceQuantized(ctx, h, buf, fast.Sum, quantized.Options{Format: quantized.Float8E4M3})
		},
		"block": func(ctx context.Context, h *Comm, buf []float32) error {
			return AllReduceQuantized(ctx, h, buf, fast.Sum, quantized.Options{Block: 255})
		},
		"op": func(ctx context.Context, h *Comm, buf []float32) error {
			return AllReduceQuantized(ctx, h, buf, fast.Avg, quantized.Options{})
		},
		"call": func(ctx context.Context, h *Comm, buf []float32) error { return AllReduce(ctx, h, buf, fast.Sum) },
	} {
		for rank := range p {
			all := p.job(t, inproc.NewJob(len(p)))
			for r, err := range fasttest.OnAll(all, func(h *Comm) error {
				if h.rank() == rank {
					return odd(t.Context(), h, make([]float32, 100))
				}
				return AllReduceQuantized(t.Context(), h, make([]float32, 100), fast.Sum, quantized.Options{})
			}) {
				if !errors.As(err, new(*fast.MismatchError)) {
					t.Errorf("%s of rank %d: rank %d: %v", name, rank, r, err)
				}
			}
			closeAll(t, all)
		}
	}
}

// TestQuantizedDeath: when a rank dies, the call ends on all others, with an error that names it.
func TestQuantizedDeath(t *testing.T) {
	p := placement{0, 1, 0, 1, 2}
	for victim := range p {
		p.dies(t, victim, func(ctx context.Context, h *Comm) error {
			return AllReduceQuantized(ctx, h, make([]float32, 1009), fast.Sum, quantized.Options{})
		})
	}
}

// TestQuantizedAllocations: a repeated call allocates nothing.
func TestQuantizedAllocations(t *testing.T) {
	p := placement{0, 1, 0, 2}
	all := p.job(t, inproc.NewJob(len(p)))
	defer closeAll(t, all)
	const runs = 10
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(h *Comm) (err error) {
		buf := make([]float32, 1009)
		once := func() { err = errors.Join(err, AllReduceQuantized(t.Context(), h, buf, fast.Avg, quantized.Options{})) }
		if h.rank() > 0 {
			for range 1 + runs {
				once()
			}
			return err
		}
		if n := testing.AllocsPerRun(runs, once); n != 0 {
			t.Errorf("%v allocations on all ranks", n)
		}
		return err
	}))
}

// TestQuantizedBytes: hosts send each other 2 (n-1) times what a buffer takes that is quantized, n of them in all.
func TestQuantizedBytes(t *testing.T) {
	const elements, takes = 4099, 4099 + 17*4 // in blocks of 256
	for _, p := range some {
		all, bytes, _ := p.counted(t)
		two := make([]*Comm, len(p))
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) (err error) {
			two[c.Rank()], err = onHosts(t.Context(), c, p)
			return err
		}))
		before := bytes.Load()
		fasttest.CheckErrors(t, fasttest.OnAll(two, func(h *Comm) error {
			return AllReduceQuantized(t.Context(), h, make([]float32, elements), fast.Sum, quantized.Options{})
		}))
		if got, want := bytes.Load()-before, int64(2*(len(p.hosts())-1)*takes); got != want {
			t.Errorf("%v: %d bytes, want %d", p, got, want)
		}
		fasttest.CloseAll(t, two)
		fasttest.CloseAll(t, all)
	}
}
