package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

func init() { roles["operate"] = operate }

// operate repeats one operation, with checked results, until it fails. It is given the operation's index.
func operate(ctx context.Context, args []string) error {
	var index int
	if _, err := fmt.Sscan(args[0], &index); err != nil {
		return err
	}
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	fmt.Println("up")
	for seed := 0; ; seed++ {
		if err := operations[index].run(ctx, c, []int{1, 1000, 70_000}[seed%3], seed); err != nil {
			return verdict(err)
		}
	}
}

// verdict says what the error of a survivor is, in a form that tests read.
func verdict(err error) error {
	var peer *PeerError
	var wrong *wrongResult
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("WRONG RESULT: %w", err)
	case errors.Is(err, ErrFenced):
		return fmt.Errorf("fenced %w", err)
	case errors.As(err, &peer) && errors.Is(peer.Err, ErrDied):
		return fmt.Errorf("died:%d %w", peer.Rank, err)
	case errors.As(err, &peer) && errors.Is(peer.Err, ErrFrozen):
		return fmt.Errorf("frozen:%d %w", peer.Rank, err)
	}
	return err
}

// TestKill ends a rank at a random point of every operation, over shared memory and TCP: the others have the error that
// names it soon, no result was wrong, and nothing is left.
func TestKill(t *testing.T) {
	n, first := tries(t, 60, 1000), rand.IntN(1000)
	late := map[string]*delays{"shm": {limit: promise}, "tcp": {limit: time.Second}}
	for i := first; i < first+n; i++ {
		over := []string{"shm", "tcp"}[i%2]
		late[over].add(killOperating(t, over, 3, i/2%len(operations)))
	}
	for over, d := range late {
		d.check(t, "until the last survivor knew, over "+over)
	}
}

// TestKillOverRDMA is the same over both devices: every operation with two and with four processes. How soon they know,
// the emulated machine cannot say: it is shown.
func TestKillOverRDMA(t *testing.T) {
	vm.Need(t)
	for _, size := range []int{2, 4} {
		var last time.Duration
		for op := range operations {
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
	what := fmt.Sprintf("%s over %s, rank %d of %d killed after %v", operations[op].name, over, victim, size, delay)
	j := newJob(t, size, fmt.Sprint("operate ", op))
	j.with = append(j.with, "COLL_TRANSPORT="+over)
	ranks := j.start(0, size)
	for _, p := range ranks {
		if l := p.line(t); l != "up" {
			t.Fatalf("%s: %s", what, l)
		}
	}
	time.Sleep(delay)
	killed := kill(t, ranks[victim])
	for _, p := range ranks {
		if p.rank == victim {
			continue
		}
		at, text := p.failure(t)
		if !strings.HasPrefix(text, fmt.Sprintf("died:%d ", victim)) {
			t.Errorf("%s: rank %d says %s", what, p.rank, text)
		}
		last = max(last, time.Duration(at-killed))
	}
	j.end(ranks)
	return last
}
