package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCallError has calls fail after they have begun: their errors say which they were.
func TestCallError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			call func(ctx context.Context, c *Comm) error
			want CallError
			text string
		}{
			"collective": {
				func(ctx context.Context, c *Comm) error {
					return AllReduce(ctx, c, make([]int64, 9), Sum, WithAlgorithm("two-shot"))
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 3, Op: "AllReduce", Algorithm: "two-shot", Peer: -1, Waiting: []int{0, 2, 3}},
				"AllReduce, call 3 of world, rank 1 of 4: waiting for ranks [0 2 3]: context deadline exceeded",
			},
			"started": {
				func(ctx context.Context, c *Comm) error {
					return StartBroadcast(ctx, c, make([]int64, 9), 0, WithAlgorithm("binomial")).Wait(t.Context())
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 3, Op: "Broadcast", Algorithm: "binomial", Peer: -1, Waiting: []int{0}},
				"Broadcast, call 3 of world, rank 1 of 4: waiting for ranks [0]: context deadline exceeded",
			},
			"receive": {
				func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int64, 9), 2) },
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 1, Op: "Recv", Algorithm: "direct", Peer: 2, Waiting: []int{2}},
				"Recv with rank 2, call 1 of world, rank 1 of 4: waiting for ranks [2]: context deadline exceeded",
			},
			"both at once": {
				func(ctx context.Context, c *Comm) error {
					return SendRecv(ctx, c, make([]int64, 9), 0, make([]int64, 9), 3)
				},
				CallError{Comm: "world", Rank: 1, Size: 4, Seq: 1, Op: "SendRecv", Algorithm: "direct", Peer: 0, Waiting: []int{0, 3}},
				"SendRecv with rank 0, call 1 of world, rank 1 of 4: waiting for ranks [0 3]: context deadline exceeded",
			},
		} {
			all := comms(4)
			inStep(t, all, 2, func(c *Comm) error { return Barrier(t.Context(), c) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := test.call(ctx, all[1])
			cancel()
			var got *CallError
			var timeout *TimeoutError
			if !errors.As(err, &got) || !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if d := cmp.Diff(test.want, *got, cmpopts.IgnoreFields(CallError{}, "Err")); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			if err.Error() != test.text {
				t.Errorf("%s: %v, want %s", name, err, test.text)
			}
			if later := Barrier(t.Context(), all[1]); !errors.Is(later, ErrAborted) || !errors.Is(later, context.DeadlineExceeded) {
				t.Errorf("%s, later: %v", name, later)
			}
			leaveAll(all)
		}
	})
}

// TestCallErrorWaiting has calls fail in the ways that are no timeout: the errors list the ranks that they were waiting
// for, whoever is at fault.
func TestCallErrorWaiting(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for how, end := range map[string]func(all []*Comm){
				"another rank aborts":    func(all []*Comm) { all[2].Abort() },
				"another rank closes":    func(all []*Comm) { _ = all[2].Close() },
				"this rank aborts":       func(all []*Comm) { all[0].Abort() },
				"it is revoked":          func(all []*Comm) { all[1].Revoke() },
				"another call elsewhere": func(all []*Comm) { _ = Barrier(t.Context(), all[2]) },
			} {
				all := w.comms(t, 3)
				errs := make(chan error)
				go func() { errs <- Recv(t.Context(), all[0], make([]int64, 9), 2) }()
				for start := time.Now(); len(all[0].exec.Transport.Waiting()) == 0 && time.Since(start) < time.Minute; {
					time.Sleep(time.Millisecond)
				}
				end(all)
				err := <-errs
				var got *CallError
				if !errors.As(err, &got) || !slices.Equal(got.Waiting, []int{2}) || !strings.Contains(err.Error(), ": waiting for ranks [2]: ") {
					t.Errorf("%s: %v", how, err)
				}
				closeAll(t, all)
			}
		})
	}
}

// TestPlainErrors are those of calls that did not begin.
func TestPlainErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := comms(2)[0]
	for _, err := range []error{
		AllReduce(t.Context(), c, []int64{1}, 0), Barrier(ended, c), StartBarrier(ended, c).Wait(t.Context()),
	} {
		var call *CallError
		if err == nil || errors.As(err, &call) {
			t.Errorf("%v names a call that was made", err)
		}
	}
	_ = c.Close()
}

// TestUnmadeCalls: what is refused because the communicator is closed, or in use, says which one that is.
func TestUnmadeCalls(t *testing.T) {
	c := comms(1)[0]
	c.name = "the one"
	c.membership.TryBegin()
	_, err := c.Agree(t.Context(), 0)
	checkUnmade(t, "Agree", c, err, ErrConcurrentUse)
	c.membership.End()
	c.busy.Set()
	checkUnmade(t, "Free", c, Free(c, []byte{1}), ErrConcurrentUse)
	c.busy.Unset()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = c.Group(t.Context(), []int{0})
	checkUnmade(t, "Group", c, err, ErrClosed)
	_, err = c.Split(t.Context(), 0, 0)
	checkUnmade(t, "Split", c, err, ErrClosed)
	checkUnmade(t, "Revoke", c, c.Revoke(), ErrClosed)
	checkUnmade(t, "Free", c, Free(c, []byte{1}), ErrClosed)
}

func checkUnmade(t *testing.T, what string, c *Comm, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || err.Error() != fmt.Sprintf("%s on %v: %v", what, c, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
