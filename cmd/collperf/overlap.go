package main

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
)

// overlapRounds is how many times the share is measured. Their median counts.
const overlapRounds = 11

// overlap returns which share of a started call is hidden behind computing that takes as long as the call: 0 to 1. It
// is the mean over all ranks. With -idle the rank sleeps instead of computing.
func (m *meter) overlap(ctx context.Context) (float64, error) {
	n, err := m.overlapBatch(ctx)
	if err != nil {
		return 0, err
	}
	shares := make(times, overlapRounds)
	steps := 1
	for i := range shares {
		if shares[i], steps, err = m.share(ctx, n, steps); err != nil {
			return 0, err
		}
	}
	if err := shares.among(ctx, m.c); err != nil {
		return 0, err
	}
	slices.Sort(shares)
	return min(max(0, shares.median()), 1), nil
}

// overlapBatch returns how many started calls are long enough for the clock.
func (m *meter) overlapBatch(ctx context.Context) (int, error) {
	for n := 1; ; n *= 2 {
		t, err := m.started(ctx, n, nothing)
		if err == nil {
			t, err = slowest(ctx, m.c, t)
		}
		if err != nil || t >= leastBatch || n == mostBatch {
			return n, err
		}
	}
}

// share measures calls alone, computing alone, and both: what both take less than one after the other was hidden. more
// is how many steps of computing take as long as a call does.
func (m *meter) share(ctx context.Context, n, steps int) (share float64, more int, err error) {
	alone, err := m.started(ctx, n, nothing)
	if err != nil {
		return 0, 0, err
	}
	if m.idle {
		pause := func() { time.Sleep(time.Duration(alone * 1000 / float64(n))) }
		busy := lasts(n, pause)
		both, err := m.started(ctx, n, pause)
		return (alone + busy - both) / alone, steps, err
	}
	for took := lasts(n, compute(steps)); took < alone/2; took = lasts(n, compute(steps)) {
		steps *= 2
	}
	steps = max(1, int(float64(steps)*alone/lasts(n, compute(steps))))
	busy := lasts(n, compute(steps))
	both, err := m.started(ctx, n, compute(steps))
	return (alone + busy - both) / alone, steps, err
}

// started returns how long n calls take that are started and waited for, in microseconds, with other work between the
// two.
func (m *meter) started(ctx context.Context, n int, work func()) (float64, error) {
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

// lasts returns how long work takes n times, in microseconds.
func lasts(n int, work func()) float64 {
	start := time.Now()
	for range n {
		work()
	}
	return since(start)
}

// computed keeps the results of compute, so that it is not left out.
var computed atomic.Uint64

// compute returns what a caller does while a call runs: arithmetic, without memory.
func compute(steps int) func() {
	return func() {
		x := 1.5
		for range steps {
			x = math.Sqrt(x) + 1
		}
		computed.Store(math.Float64bits(x))
	}
}

func (b *buffers[T]) start(ctx context.Context) *fast.Handle {
	return collective.Start(b.options, func(opts []fast.Option) error { return b.invoke(ctx, &b.invocation, opts) })
}
