package fast

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestFreeze stops a rank in the middle of every operation, as SIGSTOP does: the others take it for dead within 2.5 s.
// When it goes on, it finds out that it was given up.
func TestFreeze(t *testing.T) {
	const size = 3
	n, first := tries(t, 8, 200), rand.IntN(1000)
	late := delays{limit: 2500 * time.Millisecond}
	var frozen atomic.Int64
	for i := 0; i < n; i += 8 { // the waiting is long: eight jobs at a time
		t.Run("", func(t *testing.T) {
			for k := first + i; k < first+min(i+8, n); k++ {
				t.Run(fmt.Sprint(k), func(t *testing.T) {
					t.Parallel()
					took, knew := freeze(t, size, k)
					late.add(took)
					frozen.Add(int64(knew))
				})
			}
		})
	}
	t.Logf("%d ranks that were not stopped; for %d of them the one that was is frozen", n*(size-1), frozen.Load())
	late.check(t, "until the last survivor knew")
}

// freeze stops one of size ranks, and is the time until the last of the others knew, and for how many it is frozen.
func freeze(t *testing.T, size, i int) (late time.Duration, knew int) {
	over, op, victim := []string{"shm", "tcp"}[i%2], i/2%len(operations), rand.IntN(size)
	what := fmt.Sprintf("%s over %s, rank %d", operations[op].name, over, victim)
	j := newJob(t, size, fmt.Sprint("operate ", op))
	j.with = append(j.with, "COLL_TRANSPORT="+over)
	ranks := j.start(0, size)
	for _, p := range ranks {
		p.line(t)
	}
	time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond)
	frozen := clock()
	if err := ranks[victim].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, p := range ranks {
		if p.rank == victim {
			continue
		}
		at, text := p.failure(t)
		if strings.HasPrefix(text, fmt.Sprintf("frozen:%d ", victim)) {
			knew++
		} else {
			t.Errorf("%s: rank %d says %s", what, p.rank, text)
		}
		late = max(late, time.Duration(at-frozen))
	}
	if err := ranks[victim].Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, text := ranks[victim].failure(t); !strings.HasPrefix(text, "fenced ") {
		t.Errorf("%s: when it goes on it says %s", what, text)
	}
	j.end(ranks)
	return late, knew
}
