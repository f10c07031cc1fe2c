package bench

import (
	"context"
	"math"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
)

// Times are repeated measurements of one thing, in microseconds per call.
type Times []float64

// average replaces each time by its mean over all ranks.
func (t Times) average(ctx context.Context, c *fast.Comm) error {
	return fast.AllReduce(ctx, c, []float64(t), fast.Avg)
}

// slowest returns the longest of a time over all ranks.
func slowest(ctx context.Context, c *fast.Comm, t float64) (float64, error) {
	all := []float64{t}
	err := fast.AllReduce(ctx, c, all, fast.Max)
	return all[0], err
}

// Quantile returns the time that a share q of all times does not exceed, 0 < q <= 1. t must be sorted and not empty.
func (t Times) Quantile(q float64) float64 {
	return t[max(0, int(math.Ceil(q*float64(len(t))))-1)]
}

// Median returns the middle time, or the mean of the two in the middle. t must be sorted.
func (t Times) Median() float64 { return figures.Median(t) }

func (t Times) mean() (sum float64) {
	for _, x := range t {
		sum += x / float64(len(t))
	}
	return sum
}

// Spread is the distribution of the times of one case, in microseconds.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	P50    float64 `json:"p50"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
}

// spreadOf takes the typical values from typical, and the percentiles from the times of single calls. Both may be the
// same slice. It sorts them.
func spreadOf(typical, single Times) Spread {
	slices.Sort(typical)
	slices.Sort(single)
	return Spread{
		Min: typical[0], Median: typical.Median(), Mean: typical.mean(),
		P50: single.Quantile(.5), P90: single.Quantile(.9), P99: single.Quantile(.99), P999: single.Quantile(.999),
		Max: single[len(single)-1],
	}
}
