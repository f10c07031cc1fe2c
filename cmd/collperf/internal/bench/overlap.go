package bench

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// overlapRounds is how many times the share is measured; the median counts.
const overlapRounds = 11

// overlap returns the share of a started call that is hidden behind computing for as long as the call takes, 0 to 1. It
// is the mean over all ranks. An idle meter sleeps instead of computing.
func (m *Meter) overlap(ctx context.Context) (float64, error) {
	n, err := m.overlapBatch(ctx)
	if err != nil {
		return 0, err
	}
	shares := make(Times, overlapRounds)
	steps := 1
	for i := range shares {
		if shares[i], steps, err = m.share(ctx, n, steps); err != nil {
			return 0, err
		}
	}
	if err := shares.average(ctx, m.Comm); err != nil {
		return 0, err
	}
	slices.Sort(shares)
	return min(max(0, shares.Median()), 1), nil
}

// overlapBatch returns the number of started calls in a batch that is long enough for the clock.
func (m *Meter) overlapBatch(ctx context.Context) (int, error) {
	for n := 1; ; n *= 2 {
		t, err := m.started(ctx, n, nothing)
		if err == nil {
			t, err = slowest(ctx, m.Comm, t)
		}
		if err != nil || t >= minBatch || n == maxBatch {
			return n, err
		}
	}
}

// share measures calls alone, computing alone, and both together. The share is the time that is saved by doing both
// together. more is the number of computing steps that take as long as a call.
func (m *Meter) share(ctx context.Context, n, steps int) (share float64, more int, err error) {
	alone, err := m.started(ctx, n, nothing)
	if err != nil {
		return 0, 0, err
	}
	if m.idle {
		pause := func() { time.Sleep(time.Duration(alone * 1000 / float64(n))) }
		busy := duration(n, pause)
		both, err := m.started(ctx, n, pause)
		return (alone + busy - both) / alone, steps, err
	}
	for took := duration(n, compute(steps)); took < alone/2; took = duration(n, compute(steps)) {
		steps *= 2
	}
	steps = max(1, int(float64(steps)*alone/duration(n, compute(steps))))
	busy := duration(n, compute(steps))
	both, err := m.started(ctx, n, compute(steps))
	return (alone + busy - both) / alone, steps, err
}

// started returns how long it takes to start n calls and wait for each, in microseconds. Between the two it does other
// work.
func (m *Meter) started(ctx context.Context, n int, work func()) (float64, error) {
	return m.microseconds(ctx, func() error {
		for range n {
			m.rewrite()
			h := m.start(ctx)
			work()
			if err := h.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func nothing() {}

// duration returns how long it takes to do work n times, in microseconds.
func duration(n int, work func()) float64 {
	start := time.Now()
	for range n {
		work()
	}
	return since(start)
}

// computed keeps the results of compute, so that the compiler does not drop it.
var computed atomic.Uint64

// compute returns the work of a caller while a call runs: arithmetic without memory accesses.
func compute(steps int) func() {
	return func() {
		x := 1.5
		for range steps {
			x = math.Sqrt(x) + 1
		}
		computed.Store(math.Float64bits(x))
	}
}
