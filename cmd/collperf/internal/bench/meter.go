package bench

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast"
)

const (
	// batchedBytes is the size up to which calls are timed in batches, because they are too short for the clock.
	batchedBytes = 32 << 10
	// MinBatches is how many batches there are at least.
	MinBatches = 11
	// minBatch is how long a batch is at least, in microseconds.
	minBatch = 1000
	// maxBatch is the largest number of calls in a batch.
	maxBatch = 1 << 20
	// maxSingles is the largest number of calls that are timed singly in addition to the batches.
	maxSingles = 10000
)

// Meter times one load on one rank. All ranks do the same.
type Meter struct {
	Load
	Comm       *fast.Comm
	Iterations int
	hops       float64
	idle       bool // sleep instead of computing while a started call runs
}

// rounds makes n calls, each on a new operand.
func (m *Meter) rounds(ctx context.Context, n int) error {
	for range n {
		m.rewrite()
		if err := m.call(ctx); err != nil {
			return err
		}
	}
	return nil
}

// microseconds returns how long f takes, after a barrier.
func (m *Meter) microseconds(ctx context.Context, f func() error) (float64, error) {
	if err := fast.Barrier(ctx, m.Comm); err != nil {
		return 0, err
	}
	start := time.Now()
	err := f()
	return since(start), err
}

func since(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / 1000 }

// batchSize returns the number of calls in a batch that is long enough for the clock.
func (m *Meter) batchSize(ctx context.Context) (int, error) {
	for n := 1; ; n *= 2 {
		t, err := m.microseconds(ctx, func() error { return m.rounds(ctx, n) })
		if err == nil {
			t, err = slowest(ctx, m.Comm, t)
		}
		if err != nil || t >= minBatch || n == maxBatch {
			return n, err
		}
	}
}

// batch returns the time per call of n calls, without the rewriting.
func (m *Meter) batch(ctx context.Context, n int) (float64, error) {
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
func (m *Meter) single(ctx context.Context) (float64, error) {
	m.rewrite()
	return m.microseconds(ctx, func() error { return m.call(ctx) })
}

// short times calls that are too short for the clock: batches for typical times, single calls for percentiles.
func (m *Meter) short(ctx context.Context) (s Spread, calls int, err error) {
	n, err := m.batchSize(ctx)
	if err != nil {
		return s, 0, err
	}
	batches := make(Times, max(MinBatches, m.Iterations))
	for i := range batches {
		if batches[i], err = m.batch(ctx, n); err != nil {
			return s, 0, err
		}
	}
	singles := make(Times, min(maxSingles, n*len(batches)))
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
func (m *Meter) long(ctx context.Context) (s Spread, calls int, err error) {
	all := make(Times, m.Iterations)
	for i := range all {
		if all[i], err = m.single(ctx); err != nil {
			return s, 0, err
		}
	}
	s, err = m.together(ctx, all, all)
	return s, len(all), err
}

// together returns the spread of the mean over all ranks.
func (m *Meter) together(ctx context.Context, typical, single Times) (Spread, error) {
	for _, t := range []Times{typical, single} {
		for i := range t {
			t[i] /= m.hops
		}
		if err := t.average(ctx, m.Comm); err != nil {
			return Spread{}, err
		}
		if &typical[0] == &single[0] {
			break
		}
	}
	return spreadOf(typical, single), nil
}

// Prepare warms up, and returns how many calls of so many bytes make a batch; 0: each call is timed by itself.
func (m *Meter) Prepare(ctx context.Context, warmUp, bytes int) (batch int, err error) {
	if err := m.rounds(ctx, warmUp); err != nil || bytes > batchedBytes {
		return 0, err
	}
	return m.batchSize(ctx)
}

// One returns the time of a call: the mean of a batch of so many or, for 0, that of a single one.
func (m *Meter) One(ctx context.Context, batch int) (float64, error) {
	if batch == 0 {
		return m.single(ctx)
	}
	return m.batch(ctx, batch)
}
