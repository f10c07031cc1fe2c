package fast

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestUnmadeCallsSayWhere: the error of a call that is not made names the operation, the communicator and this rank, as
// that of a call that failed does, and says but once that the communicator was given up.
func TestUnmadeCallsSayWhere(t *testing.T) {
	for want, end := range map[string]func(c *Comm){
		"Barrier on world, rank 1 of 2: communicator was given up: rank 0: rank died": func(c *Comm) {
			c.fail(&PeerError{Rank: 0, Err: ErrDied})
		},
		"Barrier on world, rank 1 of 2: rank 0: communicator was given up: why": func(c *Comm) {
			c.noticed(wire.Note{From: 0, Body: []byte(`{"State":1,"By":0,"Rank":0,"Text":"why"}`)})
		},
		"Barrier on world, rank 1 of 2: communicator was given up by Abort": func(c *Comm) { c.Abort() },
		"Barrier on world, rank 1 of 2: communicator is closed":             func(c *Comm) { _ = c.Close() },
	} {
		all := worlds[0].comms(t, 2)
		end(all[1])
		err := Barrier(t.Context(), all[1])
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		if all[1].State() != Closed && !errors.Is(err, ErrAborted) {
			t.Errorf("%v is not ErrAborted", err)
		}
		closeAll(t, all)
	}
}

// TestNoHandle: a handle that is nobody's neither panics nor is waited for.
func TestNoHandle(t *testing.T) {
	for _, h := range []*Handle{nil, {}} {
		done, err := h.Test()
		for _, err := range []error{err, h.Wait(t.Context()), h.Err()} {
			if !done || !errors.Is(err, ErrInvalidArgument) {
				t.Error(done, err)
			}
		}
		<-h.Done()
	}
}

// TestCloseTellsOfRefusals: Close gives the errors of calls that were not started and that nobody has asked for, also
// after more of them whose errors were asked for than are kept.
func TestCloseTellsOfRefusals(t *testing.T) {
	c := newComm(0, 1, nil)
	for range 2 * maxRefusals {
		if err := StartAllReduce(t.Context(), c, []float32{1}, BAnd).Wait(t.Context()); !errors.Is(err, ErrInvalidArgument) {
			t.Fatal(err)
		}
	}
	if n := len(c.refusals.all); n != 1 {
		t.Errorf("%d handles are kept, want the last one", n)
	}
	StartAllReduce(t.Context(), c, []float32{1}, BOr)
	if err := c.Close(); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "bor") {
		t.Errorf("Close: %v", err)
	}
}

// TestBadBucket: what no call of a bucket could do is refused when it is made.
func TestBadBucket(t *testing.T) {
	all := worlds[0].comms(t, 1)
	defer closeAll(t, all)
	_, none := NewBucket[int](nil, Sum, 64)
	_, empty := NewBucket[int](new(Comm), Sum, 64)
	_, wrong := NewBucket[float64](all[0], BAnd, 64)
	for _, err := range []error{none, empty, wrong} {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Error(err)
		}
	}
	if !strings.Contains(wrong.Error(), "not defined on") {
		t.Error(wrong)
	}
}

// TestLateGroup: a Group whose context had ended before it began does not count, and the members can make it all the
// same.
func TestLateGroup(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 2)
			defer closeAll(t, all)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			var timeout *TimeoutError
			if _, err := all[0].Group(over, []int{0, 1}); !errors.As(err, &timeout) {
				t.Errorf("after its context had ended: %v", err)
			}
			for rank, err := range onAll(all, func(c *Comm) error {
				g, err := c.Group(t.Context(), []int{0, 1})
				if err == nil {
					err = errors.Join(Barrier(t.Context(), g), g.Close())
				}
				return err
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// TestSlowCallTooSoon: a time after which every call would be slow, or the timer would spin, is refused.
func TestSlowCallTooSoon(t *testing.T) {
	for _, after := range []time.Duration{-time.Second, 0, 1, flight.MinSlow - 1} {
		if _, err := Init(t.Context(), WithRank(0, 1), WithSlowCall(after)); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%v: %v", after, err)
		}
	}
}
