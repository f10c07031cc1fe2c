package main

import (
	"context"
	"math"
	"slices"

	"github.com/collgen/collgen/fast"
)

// times are how long something took, again and again, in microseconds per call.
type times []float64

// among has every rank know the mean over all ranks of each time.
func (t times) among(ctx context.Context, c *fast.Comm) error {
	return fast.AllReduce(ctx, c, []float64(t), fast.Avg)
}

// slowest returns the longest of a time over all ranks.
func slowest(ctx context.Context, c *fast.Comm, t float64) (float64, error) {
	all := []float64{t}
	err := fast.AllReduce(ctx, c, all, fast.Max)
	return all[0], err
}

// quantile returns the time that a share q of all times does not exceed, 0 < q <= 1: one of them. t is sorted and not
// empty.
func (t times) quantile(q float64) float64 {
	return t[max(0, int(math.Ceil(q*float64(len(t))))-1)]
}

// median returns the middle time, or the mean of the two in the middle. t is sorted and not empty.
func (t times) median() float64 {
	n := len(t)
	return (t[(n-1)/2] + t[n/2]) / 2
}

func (t times) mean() (sum float64) {
	for _, x := range t {
		sum += x / float64(len(t))
	}
	return sum
}

// spread is how the times of one trial are spread, in microseconds.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	P50    float64 `json:"p50"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
}

// spreadOf takes what is typical from some times, and what is rare from those of single calls. Both may be the same; it
// sorts them.
func spreadOf(typical, single times) spread {
	slices.Sort(typical)
	slices.Sort(single)
	return spread{
		Min: typical[0], Median: typical.median(), Mean: typical.mean(),
		P50: single.quantile(.5), P90: single.quantile(.9), P99: single.quantile(.99), P999: single.quantile(.999),
		Max: single[len(single)-1],
	}
}
