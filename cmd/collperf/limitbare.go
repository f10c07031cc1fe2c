package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
)

// bareSizes are those that the bare programs have. What is much shorter takes no longer than a cache line that crosses.
var bareSizes = []int{1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}

const (
	// bareCores is on how many cores a bare program works, whatever the number of ranks.
	bareCores = 2
	// bareRanks is the most ranks whose operands one has.
	bareRanks = 4
	// bareRoom is how many bytes more there are for each rank's operand: a huge page.
	bareRoom = 2 << 20
	// bareTries is how often a way is measured, and leastBare how many rounds that is at least.
	bareTries, leastBare = 2, 3
)

// bareLimits returns what collectives take without any protocol: two threads of this process, each of them for some of
// the ranks, and on a core, with nothing between them but a barrier on which they spin. They are faster than processes
// would be only in that a core goes from one rank to the next for nothing. Before each round each thread rewrites the
// operands of its ranks, as a measurement of a collective does, so that the other one finds them in its cache; that is
// not timed.
func bareLimits(ctx context.Context) (all []limit, err error) {
	if runtime.NumCPU() < bareCores {
		return nil, errors.New("there is one core")
	}
	m, err := newMemory(bareRanks*(slices.Max(bareSizes)+bareRoom) + sharedBytes)
	if err != nil {
		return nil, err
	}
	defer m.free()
	for i := range bareWorks {
		w := &bareWorks[i]
		for _, bytes := range bareSizes {
			private, lent, err := w.fastest(ctx, m.data, bytes)
			if err != nil {
				return all, err
			}
			all = append(all, w.limit(bytes, "", private))
			if w.lends() {
				all = append(all, w.limit(bytes, ", registered", lent))
			}
		}
	}
	return all, nil
}

func (w *bareWork) limit(bytes int, where string, seconds float64) limit {
	l := limit{Name: "bare " + w.name, Where: fmt.Sprintf("%d ranks, %v%s", w.ranks, size(bytes), where), Bytes: bytes,
		Cores: bareCores, Value: seconds * 1e6, Unit: "us"}
	if seconds <= 0 {
		l.Refused = "the machine was too busy"
	}
	return l
}

// fastest returns how long the fastest way takes, in seconds, with private memory, and if other ranks can read it. It
// is 0 if each was disturbed so much that the rewriting alone took longer.
func (w *bareWork) fastest(ctx context.Context, memory []byte, bytes int) (private, lent float64, err error) {
	for i := range bareTries * len(w.ways) {
		way := &w.ways[i%len(w.ways)]
		if way.access == byReading && !readsMemory() {
			continue
		}
		seconds, err := newBare(way, memory, w.ranks, bytes).measure(ctx)
		if err != nil {
			return 0, 0, err
		}
		if way.access != byLending {
			private = shorter(private, seconds)
		}
		lent = shorter(lent, seconds)
	}
	return private, lent, nil
}

// lends reports whether there is a way for memory that other ranks can read.
func (w *bareWork) lends() bool {
	return slices.ContainsFunc(w.ways, func(way bareWay) bool { return way.access == byLending })
}

// shorter returns the shorter one of two times; those that are not above 0 are none.
func shorter(a, b float64) float64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// bare is one bare program: a way to do a collective, and the memory of all ranks.
type bare struct {
	ranks, bytes int
	memory       [][]byte // the operands, and behind them results, where these lie elsewhere
	shared       []byte   // memory to which all ranks write
	values       *values[float32]
	way          *bareWay
	meeting      meeting
	took         [bareCores][]float64 // each thread's seconds, by round
}

func newBare(way *bareWay, memory []byte, ranks, bytes int) *bare {
	b := &bare{ranks: ranks, bytes: bytes, way: way, values: newValues(func(v float64) float32 { return float32(v) }, 1<<24, nil, ranks)}
	each := (len(memory) - sharedBytes) / bareRanks
	for r := range bareRanks {
		b.memory = append(b.memory, memory[r*(each+slotsApart):][:bytes])
	}
	b.shared = memory[len(memory)-sharedBytes:]
	return b
}

// measure returns how long a round takes, in seconds: the middle one of the means of both threads.
func (b *bare) measure(ctx context.Context) (seconds float64, err error) {
	err = b.threads(ctx, b.play)
	means := b.took[0]
	for i := range min(len(means), len(b.took[1])) {
		means[i] = (means[i] + b.took[1][i]) / 2
	}
	return median(means), err
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
		err = withKernels(ctx, c, buffers[:1], buffers[1:], func(x *collective.Call) {
			t.Call = x
			f(t)
		})
		return errors.Join(err, t.failed(), c.Close())
	})
}

// play is one thread's part. Rounds that are too short for a clock around each are timed together, with the rewriting,
// whose own time is taken off.
func (b *bare) play(t *thread) {
	took := &b.took[t.core]
	n := t.rounds(func() { *took = append(*took, secondsOf(func() { b.way.run(t) })) })
	if b.bytes > batchedBytes {
		return
	}
	both := secondsOf(func() {
		for i := range n {
			t.rewrite(i)
			b.way.run(t)
		}
	})
	alone := secondsOf(func() {
		for i := range n {
			t.rewrite(i)
		}
	})
	*took = []float64{(both - alone) / float64(n)}
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
