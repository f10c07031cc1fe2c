package exchangetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testAllocations counts what an Exchange allocates once it has been done before: nothing, whether the rank has to wait
// for long or not.
func testAllocations(t *testing.T, make Make) {
	all := group(t, make, 2)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	seq := uint64(0)
	for _, bytes := range []int{8, 1000, 300 << 10} {
		for _, pause := range []time.Duration{0, 12 * time.Millisecond} {
			before := allocated()
			n := allocations(t, ctx, all, seq, bytes, pause)
			seq += 100
			if n != 0 {
				t.Errorf("%d bytes, with pauses of %v: %v allocations per Exchange, most of them by\n%s", bytes, pause, n,
					most(before, allocated()))
			}
		}
	}
}

// allocated returns how much was allocated so far by each function but this one, with those that called it.
func allocated() map[string]int64 {
	runtime.GC() // or what was allocated last is not told
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, _ := runtime.MemProfile(records, true)
	all := map[string]int64{}
	for _, r := range records[:min(n, len(records))] {
		var name strings.Builder
		for frames := runtime.CallersFrames(r.Stack()); ; {
			f, more := frames.Next()
			if fmt.Fprintf(&name, " < %s:%d", f.Function, f.Line); !more {
				break
			}
		}
		if !strings.Contains(name.String(), ".allocated:") {
			all[name.String()] += r.AllocObjects
		}
	}
	return all
}

// most says who has allocated most between two times.
func most(before, after map[string]int64) string {
	more := func(name string) int64 { return after[name] - before[name] }
	names := slices.SortedFunc(maps.Keys(after), func(a, b string) int { return cmp.Compare(more(b), more(a)) })
	var text strings.Builder
	for _, name := range names[:min(3, len(names))] {
		fmt.Fprintf(&text, "%d:%s\n", more(name), name)
	}
	return text.String()
}

// allocations returns those of an Exchange, of less than 100 in the calls after that of number seq.
func allocations(t *testing.T, ctx context.Context, all []rank, seq uint64, bytes int, pause time.Duration) float64 {
	const runs, warm = 30, 3
	other := asynchronously(func() error {
		step := reducer(all[1], seq, bytes)
		for range warm + 1 + runs { // AllocsPerRun begins with one more
			time.Sleep(pause)
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	step := reducer(all[0], seq, bytes)
	f := func() {
		if err := step(ctx); err != nil {
			t.Error(err)
		}
	}
	for range warm {
		f()
	}
	n := testing.AllocsPerRun(runs, f)
	if err := ended(t, other); err != nil {
		t.Error(err)
	}
	return n
}

// reducer exchanges a buffer with the other rank of two and reduces it in place, again and again.
func reducer(e rank, seq uint64, bytes int) func(context.Context) error {
	data, call := aligned(bytes), wire.Call{Seq: seq}
	sends := []wire.Send{{Peer: 1 - e.rank, Data: data}}
	recvs := []wire.Recv{{Peer: 1 - e.rank, Into: data, AfterSend: true,
		With: data, Kernel: subtract(bytes), ReceivedFirst: e.rank == 1}}
	return func(ctx context.Context) error {
		call.Seq++
		e.Begin(wire.NewMark(&call))
		return e.Exchange(ctx, sends, recvs)
	}
}

// testTwoGroups has two groups of transports at work at once; the end of one does not disturb the other.
func testTwoGroups(t *testing.T, make Make) {
	var groups [2][]rank
	for i := range groups {
		groups[i] = group(t, make, 3)
	}
	var both sync.WaitGroup
	for i, all := range groups {
		both.Go(func() {
			for r, err := range together(all, func(e rank) error { return rounds(t.Context(), e, 50+i*50) }) {
				if err != nil {
					t.Errorf("group %d, rank %d: %v", i, r, err)
				}
				_ = all[r].Close()
			}
		})
	}
	both.Wait()
}

// rounds passes messages around the ring of ranks.
func rounds(ctx context.Context, e rank, n int) error {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	for i := range n {
		e.Begin(wire.NewMark(&wire.Call{Seq: uint64(i) + 1}))
		into := aligned(100 + i)
		if err := e.Exchange(ctx, []wire.Send{{Peer: (e.rank + 1) % e.size, Data: filled(i, e.rank, 100+i)}},
			[]wire.Recv{{Peer: (e.rank + e.size - 1) % e.size, Into: into}}); err != nil {
			return err
		}
		if want := filled(i, (e.rank+e.size-1)%e.size, 100+i); string(into) != string(want) {
			return fmt.Errorf("round %d: a wrong message", i)
		}
	}
	return nil
}
