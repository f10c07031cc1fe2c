package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestHelp has ranks wait for started calls in all ways, so that now the goroutine that waits makes them and now the
// queue's. Whoever makes them, each ends: a wait whose context has an end would end with an error otherwise.
func TestHelp(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
				r := rand.New(rand.NewPCG(1, uint64(c.Rank())))
				for call := range fasttest.Unless(testing.Short(), 2000, 500) {
					if err := startAndWait(ctx, c, r); err != nil {
						return fmt.Errorf("call %d: %w", call, err)
					}
				}
				return nil
			}))
		})
	}
}

// startAndWait starts a send, a receive and two all-reduces, and waits for each in a way that r draws, in any order.
func startAndWait(ctx context.Context, c *Comm, r *rand.Rand) error {
	x, y, in := []int{1}, []int{c.Rank()}, []int{0}
	handles := []*Handle{StartSend(ctx, c, []int{c.Rank() + 7}, 1-c.Rank()), StartRecv(ctx, c, in, 1-c.Rank()),
		StartAllReduce(ctx, c, x, Sum), StartAllReduce(context.Background(), c, y, Sum)}
	var errs []error
	for _, i := range r.Perm(len(handles)) {
		errs = append(errs, waitSomehow(ctx, handles[i], r))
	}
	if err := errors.Join(errs...); err != nil || x[0] != 2 || y[0] != 1 || in[0] != 8-c.Rank() {
		return fmt.Errorf("%v %v %v: %w", x, y, in, errors.Join(err, ErrAborted))
	}
	return nil
}

// waitSomehow waits for h.
func waitSomehow(ctx context.Context, h *Handle, r *rand.Rand) error {
	switch r.IntN(4) {
	case 0: // which never ends
		return h.Wait(context.Background())
	case 1: // that of the call, or of the one before it
		return h.Wait(ctx)
	case 2:
		other, cancel := context.WithCancel(ctx)
		defer cancel()
		return h.Wait(other)
	}
	for {
		if done, err := h.Test(); done {
			return err
		}
	}
}

// TestHelpPanics: a call that panics in the goroutine that waits for it is over, and the queue's goroutine makes the
// next one.
func TestHelpPanics(t *testing.T) {
	c := comms(t, 1)[0]
	q := c.starts()
	q.turn.Lock() // so its goroutine does not come first
	h := StartAllReduce(t.Context(), c, []int{1}, Sum)
	second := StartAllReduce(t.Context(), c, []int{1}, Sum)
	h.OnOver(func(error) { panic("planned") })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it has not panicked")
			}
		}()
		c.carryOutReady(q, h, t.Context(), true)
	}()
	if !h.Over() {
		t.Error("the call is not over")
	}
	<-second.Done()
	if err := errors.Join(second.Err(), c.Close()); err != nil {
		t.Error(err)
	}
}

// TestOver: sends and receives that were started end while their rank only asks whether they are over, and OnOver
// reports each end once.
func TestOver(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	var told [2]atomic.Int32
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
		in := []int{0}
		send := StartSend(t.Context(), c, []int{c.Rank()}, 1-c.Rank())
		recv := StartRecv(t.Context(), c, in, 1-c.Rank())
		tell := func(err error) {
			if err == nil {
				told[c.Rank()].Add(1)
			}
		}
		recv.OnOver(tell)
		for !send.Over() || !recv.Over() {
			time.Sleep(time.Millisecond)
		}
		recv.OnOver(tell)
		if in[0] != 1-c.Rank() {
			return fmt.Errorf("received %v", in)
		}
		return errors.Join(recv.Err(), send.Err())
	}))
	for rank := range told {
		if n := told[rank].Load(); n != 2 {
			t.Errorf("rank %d was told %d times, want 2", rank, n)
		}
	}
	var refused error
	var none *Handle
	none.OnOver(func(err error) { refused = err })
	if !none.Over() || !errors.Is(refused, ErrInvalidArgument) {
		t.Error("a handle that is nil is not over: ", refused)
	}
}

// TestFromVariables: variables count as those of the environment do.
func TestFromVariables(t *testing.T) {
	values := map[string]string{"COLL_RANK": "0", "COLL_SIZE": "1", "COLL_JOB": "of variables"}
	c, err := Init(t.Context(), FromVariables(func(name string) string { return values[name] })...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Size() != 1 {
		t.Errorf("%d ranks", c.Size())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	values["COLL_ENCRYPT"] = "perhaps"
	if _, err := Init(t.Context(), FromVariables(func(name string) string { return values[name] })...); err == nil ||
		!errors.Is(err, ErrInvalidArgument) {
		t.Errorf("a variable without a meaning: %v", err)
	}
}
