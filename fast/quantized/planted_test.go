package quantized

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/collgen/collgen/fast"
)

// without returns the bound without a part of it: what f returns instead of e.
func without(f func(o Options, operands, maxima []float32) float64) func(l *library) {
	return func(l *library) {
		l.bound = func(o Options, op fast.Op, operands, maxima []float32) float64 {
			bound := Options.ErrorBound(o, op, operands, maxima)
			if math.IsInf(bound, 1) {
				return bound
			}
			bound = f(o, operands, maxima)
			if op == fast.Avg {
				bound /= float64(len(operands))
			}
			return bound
		}
	}
}

// errorsOf returns the sum of what quantizing the operands adds to the bound.
func errorsOf(o Options, operands, maxima []float32) (sum float64) {
	for i := range operands {
		sum += formats[o.Format].bound(math.Abs(float64(operands[i])), float64(maxima[i]))
	}
	return sum
}

// withFormat is a mistake in the formats.
func withFormat(change func(f *format)) func(l *library) {
	return func(l *library) {
		l.on = func(c *fast.Comm, o Options) (*Comm, error) {
			q, err := New(c, o)
			if err == nil {
				changed := *q.format
				change(&changed)
				q.format = &changed
			}
			return q, err
		}
	}
}

// rounded has a format round the numbers that change returns.
func rounded(change func(y float64) float64) func(l *library) {
	return withFormat(func(f *format) {
		right := f.round
		f.round = func(codes []byte, x []float32, by float32) {
			changed := make([]float32, len(x))
			for i := range x {
				changed[i] = float32(change(float64(x[i] * by)))
			}
			right(codes, changed, 1)
		}
	})
}

// planted are mistakes in calls, and in the bound.
var planted = map[string]func(l *library){
	"numbers are rounded toward 0":             rounded(math.Trunc),
	"numbers are rounded down":                 rounded(math.Floor),
	"the largest number is too large by one":   withFormat(func(f *format) { f.most++ }),
	"the largest number is half of what it is": withFormat(func(f *format) { f.most /= 2 }),
	"there is no least scale":                  withFormat(func(f *format) { f.tiny = float32(math.Inf(1)) }),
	"the sums are those of rank 0": func(l *library) {
		l.into = func(ctx context.Context, q *Comm, dst, src []float32, op fast.Op) error {
			if q.c.Rank() > 0 {
				src = make([]float32, len(src))
			}
			return AllReduceInto(ctx, q, dst, src, op)
		}
	},
	"an average is a sum": func(l *library) {
		l.into = func(ctx context.Context, q *Comm, dst, src []float32, _ fast.Op) error {
			return AllReduceInto(ctx, q, dst, src, fast.Sum)
		}
	},
	"the bound has no error of quantizing the sum": without(errorsOf),
	"the bound has no errors of quantizing operands": without(func(o Options, operands, maxima []float32) float64 {
		var x, largest float64
		for i := range operands {
			x, largest = x+math.Abs(float64(operands[i])), largest+float64(maxima[i])
		}
		return formats[o.Format].bound(x, largest)
	}),
}

// TestPlanted: each mistake is seen.
func TestPlanted(t *testing.T) {
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{2, 3} {
				wrong := made()
				plant(wrong)
				if err := wrong.goroutines(t.Context(), size, Options{Block: 64}, 2); errors.Is(err, errWrong) {
					return
				}
			}
			t.Error("no call shows it")
		})
	}
}
