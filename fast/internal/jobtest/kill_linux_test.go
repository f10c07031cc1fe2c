package jobtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

func init() { fasttest.Roles["operate"] = operate }

// operate repeats one operation, with checked results, until it fails. It is given the operation's index.
func operate(ctx context.Context, args []string) error {
	var index int
	if _, err := fmt.Sscan(args[0], &index); err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	fmt.Println("up")
	for seed := 0; ; seed++ {
		if err := operation.All[index].Run(ctx, c, []int{1, 1000, 70_000}[seed%3], seed); err != nil {
			return verdict(err)
		}
	}
}

// verdict says what the error of a survivor is, in a form that tests read.
func verdict(err error) error {
	var peer *fast.PeerError
	var wrong *fasttest.WrongResult
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("WRONG RESULT: %w", err)
	case errors.Is(err, fast.ErrFenced):
		return fmt.Errorf("fenced %w", err)
	case errors.As(err, &peer) && errors.Is(peer.Err, fast.ErrDied):
		return fmt.Errorf("died:%d %w", peer.Rank, err)
	case errors.As(err, &peer) && errors.Is(peer.Err, fast.ErrFrozen):
		return fmt.Errorf("frozen:%d %w", peer.Rank, err)
	}
	return err
}

// TestKill ends a rank at a random point of every operation, over shared memory and TCP: the others have the error that
// names it soon, no result was wrong, and nothing is left.
func TestKill(t *testing.T) {
	n, first := fasttest.Tries(t, 60, 1000), rand.IntN(1000)
	late := map[string]*fasttest.Delays{"shm": {Limit: fasttest.Promise}, "tcp": {Limit: time.Second}}
	for i := first; i < first+n; i++ {
		over := []string{"shm", "tcp"}[i%2]
		late[over].Add(killOperating(t, over, 3, i/2%len(operation.All)))
	}
	for over, d := range late {
		d.Check(t, "until the last survivor knew, over "+over)
	}
}

// TestKillOverRDMA is the same over both devices: every operation with two and with four processes. How soon they know,
// the emulated machine cannot say: it is shown.
func TestKillOverRDMA(t *testing.T) {
	vm.Need(t)
	for _, size := range []int{2, 4} {
		var last time.Duration
		for op := range operation.All {
			last = max(last, killOperating(t, "rdma", size, op))
		}
		t.Logf("until the last survivor of %d ranks knew: at most %v", size, last)
	}
}

// killOperating has size processes repeat an operation, kills one of them, and checks what the others say. It is how
// long the last of them has taken.
func killOperating(t *testing.T, over string, size, op int) (last time.Duration) {
	t.Helper()
	victim, delay := rand.IntN(size), time.Duration(rand.IntN(10_000))*time.Microsecond
	what := fmt.Sprintf("%s over %s, rank %d of %d killed after %v", operation.All[op].Name, over, victim, size, delay)
	j := fasttest.NewJob(t, size, fmt.Sprint("operate ", op))
	j.With = append(j.With, "COLL_TRANSPORT="+over)
	ranks := j.Start(0, size)
	for _, p := range ranks {
		if l := p.Line(t); l != "up" {
			t.Fatalf("%s: %s", what, l)
		}
	}
	time.Sleep(delay)
	killed := kill(t, ranks[victim])
	for _, p := range ranks {
		if p.Rank == victim {
			continue
		}
		at, text := p.Failure(t)
		if !strings.HasPrefix(text, fmt.Sprintf("died:%d ", victim)) {
			t.Errorf("%s: rank %d says %s", what, p.Rank, text)
		}
		last = max(last, time.Duration(at-killed))
	}
	j.End(ranks)
	return last
}

// TestFreeze stops a rank in the middle of every operation, as SIGSTOP does: the others take it for dead within 2.5 s.
// When it goes on, it finds out that it was given up.
func TestFreeze(t *testing.T) {
	const size = 3
	n, first := fasttest.Tries(t, 8, 200), rand.IntN(1000)
	late := fasttest.Delays{Limit: 2500 * time.Millisecond}
	var frozen atomic.Int64
	for i := 0; i < n; i += 8 { // the waiting is long: eight jobs at a time
		t.Run("", func(t *testing.T) {
			for k := first + i; k < first+min(i+8, n); k++ {
				t.Run(fmt.Sprint(k), func(t *testing.T) {
					t.Parallel()
					took, knew := freeze(t, size, k)
					late.Add(took)
					frozen.Add(int64(knew))
				})
			}
		})
	}
	t.Logf("%d ranks that were not stopped; for %d of them the one that was is frozen", n*(size-1), frozen.Load())
	late.Check(t, "until the last survivor knew")
}

// freeze stops one of size ranks, and is the time until the last of the others knew, and for how many it is frozen.
func freeze(t *testing.T, size, i int) (late time.Duration, knew int) {
	over, op, victim := []string{"shm", "tcp"}[i%2], i/2%len(operation.All), rand.IntN(size)
	what := fmt.Sprintf("%s over %s, rank %d", operation.All[op].Name, over, victim)
	j := fasttest.NewJob(t, size, fmt.Sprint("operate ", op))
	j.With = append(j.With, "COLL_TRANSPORT="+over)
	ranks := j.Start(0, size)
	for _, p := range ranks {
		p.Line(t)
	}
	time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond)
	frozen := fasttest.Clock()
	if err := ranks[victim].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, p := range ranks {
		if p.Rank == victim {
			continue
		}
		at, text := p.Failure(t)
		if strings.HasPrefix(text, fmt.Sprintf("frozen:%d ", victim)) {
			knew++
		} else {
			t.Errorf("%s: rank %d says %s", what, p.Rank, text)
		}
		late = max(late, time.Duration(at-frozen))
	}
	if err := ranks[victim].Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, text := ranks[victim].Failure(t); !strings.HasPrefix(text, "fenced ") {
		t.Errorf("%s: when it goes on it says %s", what, text)
	}
	j.End(ranks)
	return late, knew
}

// TestFrozenRankIsFenced stops a rank until the others have gone on without it: when it runs again, it does not go on
// alone nor get back in.
func TestFrozenRankIsFenced(t *testing.T) {
	for victim := range 3 {
		for _, over := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprint(victim, " ", over), func(t *testing.T) {
				t.Parallel()
				j := fasttest.NewJob(t, 3, "survive")
				j.With = append(j.With, "COLL_TRANSPORT="+over, "COLL_HEARTBEAT_TIMEOUT=1s")
				all := j.Start(0, 3)
				for _, p := range all {
					p.Line(t)
				}
				time.Sleep(5 * time.Millisecond) // some calls
				if err := all[victim].Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				wantSurvivors(t, append(append([]*fasttest.Process(nil), all[:victim]...), all[victim+1:]...))
				if err := all[victim].Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				text := all[victim].Line(t)
				for strings.HasPrefix(text, "shrinking") {
					text = all[victim].Line(t)
				}
				if !strings.Contains(text, fast.ErrFenced.Error()) {
					t.Errorf("it says %q", text)
				}
				j.End(all)
			})
		}
	}
}
