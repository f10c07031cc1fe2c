package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// bareSizes are those that the bare programs have. Among ranks that all have their own core, and share their memory without
// a protocol, nothing shorter than a page is more than a cache line that crosses.
var bareSizes = []int{1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}

const (
	// bareCores is on how many cores a bare program works, whatever the number of ranks.
	bareCores = 2
	// bareRanks is the most ranks whose operands one has.
	bareRanks = 4
	// bareTries is how often a way is measured, and leastBare how many rounds that is at least.
	bareTries, leastBare = 3, 5
)

// bareLimits are what collectives take without any protocol: two threads of this process that share the memory of all ranks, each
// on a core, with nothing between them but a barrier on which they spin. Before each round each thread rewrites the operands of
// its ranks, as a measurement of a collective does, so that the other one finds them in its cache; that is not timed.
func bareLimits(ctx context.Context) (all []limit, err error) {
	if runtime.NumCPU() < bareCores {
		return nil, errors.New("there is one core")
	}
	m, err := newMemory(bareRanks * slices.Max(bareSizes))
	if err != nil {
		return nil, err
	}
	defer m.free()
	for _, w := range bareWorks {
		for _, ranks := range w.ranks {
			for _, bytes := range bareSizes {
				l := limit{Name: "bare " + w.name, Where: fmt.Sprintf("%d ranks, %v", ranks, size(bytes)), Bytes: bytes, Cores: bareCores, Unit: "us"}
				seconds, err := w.fastest(ctx, m, ranks, bytes)
				if err != nil {
					return all, err
				}
				if l.Value = seconds * 1e6; l.Value <= 0 {
					l.Refused = "the machine was too busy"
				}
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// fastest is how long the fastest way takes, in seconds. It is 0 if each was disturbed so much that the rewriting alone took longer.
func (w *bareWork) fastest(ctx context.Context, m *memory, ranks, bytes int) (shortest float64, err error) {
	values := newValues(func(v float64) float32 { return float32(v) }, 1<<24, nil, ranks)
	for i := range bareTries * len(w.ways) {
		b := &bare{ranks: ranks, bytes: bytes, values: values, way: w.ways[i%len(w.ways)]}
		for r := range bareRanks {
			b.memory = append(b.memory, m.data[r*len(m.data)/bareRanks:][:bytes])
		}
		seconds, err := b.measure(ctx)
		if err != nil {
			return 0, err
		}
		if seconds > 0 && (shortest == 0 || seconds < shortest) {
			shortest = seconds
		}
	}
	return shortest, nil
}

// bare is one bare program: a way to do a collective, and the memory of all ranks.
type bare struct {
	ranks, bytes int
	memory       [][]byte // the operands, and behind them results, where these lie elsewhere
	values       *values[float32]
	way          bareWay
	meeting      meeting
}

// measure is how long a round takes, in seconds.
func (b *bare) measure(ctx context.Context) (seconds float64, err error) {
	err = b.threads(ctx, func(t *thread) {
		if took := b.play(t); t.core == 0 {
			seconds = took
		}
	})
	return seconds, err
}

// threads runs both threads.
func (b *bare) threads(ctx context.Context, f func(t *thread)) error {
	return bothSides(ctx, b.meeting.end, func(core int) error {
		defer onCore(core)()
		c, err := fast.Init(ctx, fast.WithRank(0, 1))
		if err != nil {
			return err
		}
		t := &thread{bare: b, core: core}
		buffers := make([]float32, 2) // that a call has to have
		err = withKernels(ctx, c, buffers[:1], buffers[1:], func(x *fast.Call) {
			t.Call = x
			f(t)
		})
		return errors.Join(err, t.failed(), c.Close())
	})
}

// play is one thread's part. Rounds that are too short for a clock around each are timed together, with the rewriting, whose own
// time is taken off.
func (b *bare) play(t *thread) float64 {
	var all []float64
	if b.bytes > batchedBytes {
		t.rounds(func() { all = append(all, secondsOf(t.round)) })
		return median(all)
	}
	n := 0
	both := secondsOf(func() {
		n = t.rounds(t.round)
	})
	alone := secondsOf(func() {
		for i := range n {
			t.rewrite(i)
		}
	})
	return (both - alone) / float64(n)
}

func median(all []float64) float64 {
	if len(all) == 0 { // it was ended
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func secondsOf(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}
