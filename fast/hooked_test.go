package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/hooks"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/tsc"
	"github.com/google/go-cmp/cmp"
)

// toldByHooks collects what hooks are told by each rank of the first communicator.
type toldByHooks struct {
	mu sync.Mutex
	by map[int][]string
}

// take returns what a rank has told since the last take.
func (x *toldByHooks) take(rank int) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer delete(x.by, rank)
	return x.by[rank]
}

// hooks returns hooks of one rank of world, or of all: then rank is -1, and all communicators are of all ranks.
func (x *toldByHooks) hooks(rank int) *hooks.Hooks {
	say := func(c hooks.Comm, format string, args ...any) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.by == nil {
			x.by = make(map[int][]string)
		}
		at := rank
		if at < 0 {
			at = c.Rank
		}
		x.by[at] = append(x.by[at], c.Name+": "+fmt.Sprintf(format, args...))
	}
	call := func(c hooks.Call) string {
		return fmt.Sprintf("%s %d %s op %q %s×%d %dB root %d peer %d label %q", c.Primitive, c.Seq, c.Algorithm, c.Op, c.Type,
			c.Count, c.Bytes, c.Root, c.Peer, c.Label)
	}
	return &hooks.Hooks{
		CallBegun: func(c hooks.Call) { say(c.Comm, "begun %s", call(c)) },
		CallEnded: func(c hooks.Call, took time.Duration, err error) {
			if took < 0 || took > time.Hour {
				say(c.Comm, "it took %v", took)
			}
			say(c.Comm, "ended %s: %s", call(c), outcome(err))
		},
		CallSlow: func(c hooks.Call, w hooks.Wait) {
			say(c.Comm, "slow %s, still %v for %v", call(c), w.Still.Round(time.Second), w.For)
		},
		CommMade: func(c hooks.Comm) { say(c, "made, %d of %d", c.Rank, c.Size) },
		CommShrunk: func(c, made hooks.Comm, gone []int) {
			say(c, "shrunk to %d of %d without %v", made.Rank, made.Size, gone)
		},
		CommFailed: func(c hooks.Comm, err error) { say(c, "failed: %s", outcome(err)) },
		CommClosed: func(c hooks.Comm) { say(c, "closed") },
	}
}

// outcome returns the kind of an error.
func outcome(err error) string {
	for _, kind := range []error{ErrRevoked, ErrClosed, ErrAborted} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	switch {
	case err == nil:
		return "done"
	case errors.As(err, new(*MismatchError)):
		return "mismatch"
	}
	return err.Error()
}

// TestHooks: hooks are told of all that calls and communicators do, over each transport, in order.
func TestHooks(t *testing.T) {
	var x toldByHooks
	for _, w := range fasttest.Worlds(Init, WithHooks(nil, x.hooks(-1)), WithHooks(&hooks.Hooks{})) {
		t.Run(w.Name, func(t *testing.T) {
			x.by = nil
			all := w.Comms(t, 2)
			for rank, err := range fasttest.OnAll(all, func(c *Comm) error { return madeForHooks(t.Context(), c) }) {
				if err != nil {
					t.Fatalf("rank %d: %v", rank, err)
				}
				algorithm := "" // which one, the selection says
				if found := x.by[rank]; len(found) > 1 {
					algorithm = strings.Fields(found[1])[4]
				}
				sum := "AllReduce 1 " + algorithm + ` op "sum" float32×4 16B root 0 peer -1 label "w"`
				ring := `AllReduce 2 ring op "sum" float64×2 16B root 0 peer -1 label ""`
				pair := fmt.Sprintf(`Send 1 direct op "" int8×3 3B root 0 peer %d label ""`, 1-rank)
				if rank == 1 {
					pair = strings.Replace(pair, "Send", "Recv", 1)
				}
				want := []string{fmt.Sprintf("made, %d of 2", rank)}
				for _, c := range []string{sum, ring, pair} {
					want = append(want, "begun "+c, "ended "+c+": done")
				}
				for i := range want {
					want[i] = "world: " + want[i]
				}
				if d := cmp.Diff(want, x.take(rank)); d != "" {
					t.Errorf("rank %d (-want +got):\n%s", rank, d)
				}
			}
		})
	}
}

// madeForHooks makes calls of each kind: at once, started, and between two ranks.
func madeForHooks(ctx context.Context, c *Comm) error {
	if err := AllReduce(ctx, c, make([]float32, 4), Sum, WithLabel("w")); err != nil {
		return err
	}
	if err := Broadcast(ctx, c, make([]int8, 4), 2); err == nil {
		return errors.New("a root that is no rank is not refused")
	}
	h := StartAllReduce(ctx, c, make([]float64, 2), Sum, WithAlgorithm("ring"))
	if err := h.Wait(ctx); err != nil {
		return err
	}
	if c.Rank() == 0 {
		return StartSend(ctx, c, make([]int8, 3), 1).Wait(ctx)
	}
	return Recv(ctx, c, make([]int8, 3), 0)
}

// TestHooksOfFailures: hooks are told of calls that fail, those in flight beside each other included, and of
// communicators that are given up, shrunk and closed.
func TestHooksOfFailures(t *testing.T) {
	ctx := t.Context()
	all := make([]toldByHooks, 3)
	err := Run(ctx, 3, func(ctx context.Context, c *Comm) error {
		x := &all[c.Rank()]
		c.world.hooks = []*hooks.Hooks{x.hooks(c.Rank())}
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		if d.Rank() == 2 {
			d.Abort()
			return nil
		}
		sent := StartRecv(ctx, d, make([]int8, 1), 2)
		received := StartRecv(ctx, d, make([]int8, 2), 1-d.Rank())
		if a, b := sent.Wait(ctx), received.Wait(ctx); a == nil || b == nil {
			return errors.New("calls do not fail")
		}
		e, err := d.Shrink(ctx)
		if err != nil {
			return err
		}
		return errors.Join(e.Close(), d.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		got := all[rank].take(rank)
		for _, want := range []string{"world/1.0: made, %d of 3", "shrunk to %d of 2 without [2]"} {
			want = fmt.Sprintf(want, rank)
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, want) }) {
				t.Errorf("rank %d was not told %q: %q", rank, want, got)
			}
		}
		for _, many := range []struct {
			what string
			n    int
		}{{" begun Recv", 2}, {" ended Recv", 2}, {" failed: ", 1}, {" closed", 2}, {": made", 2}, {"done", 0}} {
			if n := strings.Count(strings.Join(got, "\n"), many.what); n != many.n {
				t.Errorf("rank %d was told %q %d times, want %d: %q", rank, many.what, n, many.n, got)
			}
		}
	}
}

// TestHooksOfSlowCalls: hooks are told of slow calls, also without a logger.
func TestHooksOfSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x toldByHooks
		all := comms(t, 2)
		defer leaveAll(all)
		for rank, c := range all {
			c.world.hooks = []*hooks.Hooks{x.hooks(-1)}
			c.record(flight.New(flight.Config{Rank: rank, Size: 2, Operations: 10, Clock: tsc.OfTime()}))
		}
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			if c.Rank() == 1 {
				time.Sleep(25 * time.Second)
			}
			return Broadcast(t.Context(), c, make([]uint8, 2), 1, WithAlgorithm("binomial"))
		}) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
		slow := `world: slow Broadcast 1 binomial op "" uint8×2 2B root 1 peer -1 label "", still `
		var got []string
		for _, s := range x.take(0) {
			if strings.Contains(s, "slow") {
				got = append(got, s)
			}
		}
		if d := cmp.Diff([]string{slow + "10s for [1]", slow + "20s for [1]"}, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestHooksAllocateNothing: a call with hooks, of which each is called, allocates nothing.
func TestHooksAllocateNothing(t *testing.T) {
	calls := 0
	h := &hooks.Hooks{CallBegun: func(hooks.Call) { calls++ },
		CallEnded: func(hooks.Call, time.Duration, error) { calls++ }}
	err := Run(t.Context(), 1, func(ctx context.Context, c *Comm) error {
		x := make([]float32, 10)
		if n := testing.AllocsPerRun(100, func() {
			if err := AllReduce(ctx, c, x, Sum); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}, WithHooks(h))
	if err != nil || calls != 2*101 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
