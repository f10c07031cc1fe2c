package main

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast"
)

const (
	// batchedBytes is up to which size calls are too short for a clock around each.
	batchedBytes = 32 << 10
	// leastBatches is how many batches there are at least.
	leastBatches = 11
	// leastBatch is how long a batch is at least, in microseconds.
	leastBatch = 1000
	// mostBatch is the most calls in a batch, if they take no time at all.
	mostBatch = 1 << 20
	// mostSingles is the most calls with a clock around each beside the batches.
	mostSingles = 10000
)

// meter times one load on one rank. All ranks do the same.
type meter struct {
	load
	c          *fast.Comm
	iterations int
	hops       float64
	idle       bool // while a started call runs, the rank sleeps instead of computing
}

// rounds makes n calls, each on a new operand.
func (m *meter) rounds(ctx context.Context, n int) error {
	for range n {
		m.rewrite()
		if err := m.call(ctx); err != nil {
			return err
		}
	}
	return nil
}

// microseconds returns how long f takes, after all ranks have come here.
func (m *meter) microseconds(ctx context.Context, f func() error) (float64, error) {
	if err := fast.Barrier(ctx, m.c); err != nil {
		return 0, err
	}
	start := time.Now()
	err := f()
	return since(start), err
}

func since(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / 1000 }

// batchSize returns how many calls make a batch that is long enough.
func (m *meter) batchSize(ctx context.Context) (int, error) {
	for n := 1; ; n *= 2 {
		t, err := m.microseconds(ctx, func() error { return m.rounds(ctx, n) })
		if err == nil {
			t, err = slowest(ctx, m.c, t)
		}
		if err != nil || t >= leastBatch || n == mostBatch {
			return n, err
		}
	}
}

// batch returns the time per call of n calls, without the rewriting.
func (m *meter) batch(ctx context.Context, n int) (float64, error) {
	both, err := m.microseconds(ctx, func() error { return m.rounds(ctx, n) })
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for range n {
		m.rewrite()
	}
	return (both - since(start)) / float64(n), nil
}

// single returns the time of one call.
func (m *meter) single(ctx context.Context) (float64, error) {
	m.rewrite()
	return m.microseconds(ctx, func() error { return m.call(ctx) })
}

// short times calls that are too short for the clock: batches for what is typical, and single calls for what is rare.
func (m *meter) short(ctx context.Context) (s spread, calls int, err error) {
	n, err := m.batchSize(ctx)
	if err != nil {
		return s, 0, err
	}
	batches := make(times, max(leastBatches, m.iterations))
	for i := range batches {
		if batches[i], err = m.batch(ctx, n); err != nil {
			return s, 0, err
		}
	}
	singles := make(times, min(mostSingles, n*len(batches)))
	for i := range singles {
		m.rewrite()
		start := time.Now()
		if err := m.call(ctx); err != nil {
			return s, 0, err
		}
		singles[i] = since(start)
	}
	s, err = m.together(ctx, batches, singles)
	return s, n * len(batches), err
}

// long times each call by itself, after a barrier.
func (m *meter) long(ctx context.Context) (s spread, calls int, err error) {
	all := make(times, m.iterations)
	for i := range all {
		if all[i], err = m.single(ctx); err != nil {
			return s, 0, err
		}
	}
	s, err = m.together(ctx, all, all)
	return s, len(all), err
}

// together returns the spread of the mean over all ranks.
func (m *meter) together(ctx context.Context, typical, single times) (spread, error) {
	for _, t := range []times{typical, single} {
		for i := range t {
			t[i] /= m.hops
		}
		if err := t.among(ctx, m.c); err != nil {
			return spread{}, err
		}
		if &typical[0] == &single[0] {
			break
		}
	}
	return spreadOf(typical, single), nil
}
