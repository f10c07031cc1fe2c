package quantized

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

var errWrong = errors.New("wrong result")

// exactly returns the sum of x, which are numbers, with no error.
func exactly(x []float32) *big.Float {
	sum := new(big.Float).SetPrec(512)
	for _, x := range x {
		sum.Add(sum, big.NewFloat(float64(x)))
	}
	return sum
}

// within returns an error if got is further from the sum or average of the operands than bound, which is no NaN.
func within(op fast.Op, got float32, operands []float32, bound float64) error {
	switch {
	case math.IsNaN(bound):
		return fmt.Errorf("%w: the bound is NaN", errWrong)
	case math.IsInf(bound, 1):
		return nil
	case !(math.Abs(float64(got)) <= math.MaxFloat32):
		return fmt.Errorf("%w: %v, of %v", errWrong, got, operands)
	}
	factor := big.NewFloat(1)
	if op == fast.Avg {
		factor.SetInt64(int64(len(operands)))
	}
	by := func(x float64) *big.Float { return new(big.Float).SetPrec(512).Mul(big.NewFloat(x), factor) }
	off := new(big.Float).Sub(by(float64(got)), exactly(operands))
	if off.Abs(off).Cmp(by(bound)) > 0 {
		return fmt.Errorf("%w: %v of %v is %v: off by %v, and the bound is %v", errWrong, op, operands, got,
			off.Quo(off, factor), bound)
	}
	return nil
}

// maximaOf returns the largest magnitude on each rank in the block of element i.
func (o Options) maximaOf(inputs [][]float32, i int) (all []float32) {
	lo := i / o.block() * o.block()
	for _, in := range inputs {
		all = append(all, largestOf(in[lo:min(lo+o.block(), len(in))]))
	}
	return all
}

// bounded makes a rank's part of calls. Rank 0 returns an error if a result is outside the bound; those of the others
// are the same.
func (l *library) bounded(ctx context.Context, c *fast.Comm, o Options, rounds int) error {
	q, err := l.on(c, o)
	if err != nil {
		return err
	}
	count := 4*o.block() + 1
	for seed := range uint64(rounds) {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			op := []fast.Op{fast.Sum, fast.Avg}[seed%2]
			inputs := o.inputs(kind, seed, c.Size(), count)
			got, err := l.call(ctx, q, inputs, op, false)
			if err != nil {
				return err
			}
			if c.Rank() > 0 {
				continue
			}
			for i := range got {
				var operands []float32
				for _, in := range inputs {
					operands = append(operands, in[i])
				}
				bound := l.bound(o, op, operands, o.maximaOf(inputs, i))
				if err := within(op, got[i], operands, bound); err != nil {
					return fmt.Errorf("%v, rank %d of %d, %s, [%d]: %w", o, c.Rank(), c.Size(), kind, i, err)
				}
			}
		}
	}
	return nil
}

// goroutines has goroutines make calls.
func (l *library) goroutines(ctx context.Context, size int, o Options, rounds int) error {
	return fast.Run(ctx, size, func(ctx context.Context, c *fast.Comm) error { return l.bounded(ctx, c, o, rounds) })
}

// TestBound: no result is outside the bound.
func TestBound(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for _, size := range []int{1, 2, 3, 5, 8} {
		for _, o := range allOptions {
			if err := made().goroutines(t.Context(), size, o, rounds); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestBoundValues: the bound of some operands, by hand; it is infinite where the sum may overflow, and NaN where it is
// of no call.
func TestBoundValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range []struct {
		o                Options
		op               fast.Op
		operands, maxima []float32
		least, most      float64
	}{
		// e is 1/2, and a little more for 3 roundings of 127; then the largest sum is 255, and e of it 255/254.
		{Options{}, fast.Sum, []float32{127, -127}, []float32{127, 127}, 2, 2.0041},
		{Options{}, fast.Avg, []float32{127, -127}, []float32{127, 127}, 1, 1.0021},
		{Options{}, fast.Sum, []float32{0, 0}, []float32{127, 127}, 2, 2.0041},
		{Options{}, fast.Sum, []float32{0, 0}, []float32{0, 0}, 0, 0},
		{Options{Format: Float8E4M3}, fast.Sum, []float32{17, 0}, []float32{448, 0}, 1 + 18./17, 1 + 18./17 + 1e-4},
		{Options{Format: Float8E5M2}, fast.Sum, []float32{-9, 9}, []float32{9, 9}, 2 + 20./9, 2 + 20./9 + 1e-4},
		{Options{}, fast.Sum, []float32{1, 1}, []float32{math.MaxFloat32, 1}, math.Inf(1), math.Inf(1)},
		{Options{}, fast.Sum, []float32{1, 1}, []float32{inf, 1}, math.Inf(1), math.Inf(1)},
		{Options{}, fast.Sum, []float32{nan, 1}, []float32{1, 1}, math.Inf(1), math.Inf(1)},
		{Options{}, fast.Sum, []float32{1, 1}, []float32{nan, 1}, math.Inf(1), math.Inf(1)},
	} {
		if got := x.o.ErrorBound(x.op, x.operands, x.maxima); !(x.least <= got && got <= x.most) {
			t.Errorf("%v, %v of %v in blocks of %v: %v, want %v to %v", x.o, x.op, x.operands, x.maxima, got, x.least, x.most)
		}
	}
	one := []float32{1}
	for _, got := range []float64{
		Options{}.ErrorBound(fast.Max, one, one), Options{}.ErrorBound(fast.Sum, one, nil),
		Options{}.ErrorBound(fast.Sum, nil, nil), Options{Format: 3}.ErrorBound(fast.Sum, one, one),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%v, want NaN", got)
		}
	}
}

// documented is the formula in the comment of ErrorBound.
func (o Options) documented(op fast.Op, operands, maxima []float32) float64 {
	most := [...]float64{127, 448, 57344}[o.Format]
	tiny := [...]float64{1, 0x1p-9, 0x1p-16}[o.Format]
	rel := [...]float64{0, 1. / 17, 1. / 9}[o.Format]
	least := [...]float64{0x1p-126, 0x1p-117, 0x1p-110}[o.Format]
	const u = 0x1p-24
	v, n := math.Expm1(3*math.Log1p(u)), float64(len(operands))
	e := func(x, m float64) float64 { return v*x + (1+v)*max(rel*x, tiny/2*max(m/most, least)) }
	gamma := (n - 1) * u / (1 - (n-1)*u)
	var sumX, sumE, sumM float64
	for i, x := range operands {
		x, m := math.Abs(float64(x)), float64(maxima[i])
		sumX, sumE, sumM = sumX+x, sumE+e(x, m), sumM+m+e(m, m)
	}
	first := (1+gamma)*sumE + gamma*sumX
	sum := first + e(sumX+first, (1+gamma)*sumM)
	if op == fast.Avg {
		return (sum+u*(sumX+sum))/n + 0x1p-150
	}
	return sum
}

// TestBoundIsDocumented: the bound is that of the formula, and little more than what it rounds.
func TestBoundIsDocumented(t *testing.T) {
	for _, o := range allOptions {
		for size := 1; size <= 8; size++ {
			for i, kind := range []string{"uniform", "normal, of other magnitude on each rank", "tiny"} {
				op := []fast.Op{fast.Sum, fast.Avg}[(i+size)%2]
				inputs := o.inputs(kind, 1, size, 4)
				var operands []float32
				for _, in := range inputs {
					operands = append(operands, in[0])
				}
				maxima := o.maximaOf(inputs, 0)
				want, got := o.documented(op, operands, maxima), o.ErrorBound(op, operands, maxima)
				if !(want <= got && got <= want*(1+0x1p-44)) {
					t.Errorf("%v, %v of %v in blocks of %v: %v, want %v", o, op, operands, maxima, got, want)
				}
			}
		}
	}
}

// TestRoundingsCount: a sum of many operands has errors that the bound would not have without those of additions.
func TestRoundingsCount(t *testing.T) {
	gamma := spec.OpSum.ErrorBound(spec.TypeFloat32, 1<<20-1, 1<<20)
	operands := slices.Repeat([]float32{1}, 1<<20)
	o := Options{}
	if bound := o.ErrorBound(fast.Sum, operands, operands); bound < gamma*float64(len(operands)) {
		t.Errorf("%v", bound)
	}
}
