package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestSplit makes communicators by color and key, in them others, and one of no rank.
func TestSplit(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 5)
			for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
				color := c.Rank() % 2
				if c.Rank() == 4 {
					color = -1
				}
				half, err := c.Split(t.Context(), color, -c.Rank())
				if err != nil || half == nil {
					return err
				}
				defer half.Close()
				if half.Size() != 2 || half.Rank() != 1-c.Rank()/2 {
					return fmt.Errorf("rank %d became %v", c.Rank(), half)
				}
				turned, err := half.Split(t.Context(), 7, -half.Rank())
				if err != nil {
					return err
				}
				defer turned.Close()
				got := make([]int, 2)
				if err := AllGatherInto(t.Context(), turned, got, []int{c.Rank()}); err != nil {
					return err
				}
				if want := []int{color, color + 2}; !slices.Equal(got, want) {
					return fmt.Errorf("rank %d is with %v, want %v", c.Rank(), got, want)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestGroupRefused is for groups that cannot be.
func TestGroupRefused(t *testing.T) {
	all := comms(t, 2)
	for _, ranks := range [][]int{nil, {1}, {0, 0}, {0, 2}, {0, -1}} {
		if _, err := all[0].Group(t.Context(), ranks); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%v: %v", ranks, err)
		}
	}
	var none context.Context
	if _, err := all[0].Group(none, []int{0}); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("no context: %v", err)
	}
	fasttest.CloseAll(t, all)
	if _, err := all[0].Split(t.Context(), 0, 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestGroupEnds: who waits in Group for a rank that does not come gets out when the communicator beneath ends, on
// either rank.
func TestGroupEnds(t *testing.T) {
	ends := map[string]func(c *Comm){
		"abort":  (*Comm).Abort,
		"close":  func(c *Comm) { _ = c.Close() },
		"revoke": func(c *Comm) { _ = c.Revoke() },
	}
	for _, w := range worlds {
		for name, end := range ends {
			for ender := range 2 {
				t.Run(fmt.Sprint(w.Name, "/", name, " by ", ender), func(t *testing.T) {
					all := w.Comms(t, 2)
					time.AfterFunc(5*time.Millisecond, func() { end(all[ender]) })
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					if _, err := all[0].Group(ctx, []int{0, 1}); err == nil || ctx.Err() != nil {
						t.Errorf("a group of one that did not come: %v", err)
					}
					fasttest.CloseAll(t, all)
				})
			}
		}
	}
}

// TestGroupEndsAtOnce: what this rank does to the communicator beneath is seen at once; what others do may be the
// consequence of their success, so there is time for the news of that.
func TestGroupEndsAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(all []*Comm)
		after time.Duration
	}{
		"aborted":         {func(all []*Comm) { all[0].Abort() }, 0},
		"closed":          {func(all []*Comm) { _ = all[0].Close() }, 0},
		"a member closes": {func(all []*Comm) { all[0].missing(1, false) }, failure.RootCauseWait},
		"failed":          {func(all []*Comm) { all[0].fail(errors.New("planted")) }, failure.RootCauseWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			all := comms(t, 2)
			ctx, stop := all[0].usable(t.Context(), []int{0, 1})
			time.Sleep(1234567 * time.Microsecond)
			start := time.Now()
			test.end(all)
			<-ctx.Done()
			if took := time.Since(start); took != test.after {
				t.Errorf("%s: it ended after %v, want %v", name, took, test.after)
			}
			stop()
			leaveAll(all)
		})
	}
}

// TestGroupFailsOnAll: one member's context ends while another one is late. None of them has a communicator then.
func TestGroupFailsOnAll(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			impatient, cancel := context.WithCancel(t.Context())
			go func() { // once it waits in Group: if it ends before, the others wait for another attempt
				defer cancel()
				for makesNone := true; makesNone; time.Sleep(20 * time.Millisecond) {
					all[1].groups.mu.Lock()
					makesNone = len(all[1].groups.made) == 0
					all[1].groups.mu.Unlock()
				}
			}()
			for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
				ctx := t.Context()
				switch c.Rank() {
				case 1:
					ctx = impatient
				case 2:
					<-impatient.Done()
					time.Sleep(2 * failure.RootCauseWait)
				}
				g, err := c.Group(ctx, []int{0, 1, 2})
				if err == nil {
					err = g.Close()
				} else {
					err = nil
				}
				if g != nil {
					return errors.Join(err, errors.New("it has a communicator"))
				}
				return err
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestForeignCause ends a call by a context whose cause is the error of another communicator. Its ranks are not this
// one's.
func TestForeignCause(t *testing.T) {
	for _, w := range worlds {
		for _, cause := range []error{&PeerError{Rank: 1, Err: ErrDied}, &PeerError{Rank: 9, Err: ErrAborted},
			&MismatchError{Rank: 9, Field: "op"}} {
			t.Run(fmt.Sprint(w.Name, "/", cause), func(t *testing.T) {
				all := w.Comms(t, 3)
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					for len(all[0].exec.Transport.Waiting()) == 0 { // its call has begun
						time.Sleep(time.Millisecond)
					}
					cancel(cause)
				}()
				errs := fasttest.OnAll(all, func(c *Comm) error {
					switch c.Rank() {
					case 0:
						return Recv(ctx, c, make([]int, 1), 1)
					case 2:
						return Recv(t.Context(), c, make([]int, 1), 1)
					}
					return nil
				})
				var timeout *TimeoutError
				var peer *PeerError
				if !errors.As(errs[0], &timeout) || !slices.Equal(timeout.Waiting, []int{1}) || !errors.Is(errs[0], cause) {
					t.Errorf("rank 0: %v", errs[0])
				}
				if !errors.As(errs[2], &peer) || peer.Rank != 0 || !errors.Is(peer, ErrAborted) {
					t.Errorf("rank 2: %v", errs[2])
				}
				fasttest.CloseAll(t, all)
			})
		}
	}
}

// TestAfterClose: what a rank does with a communicator that it has closed harms the others no more.
func TestAfterClose(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			fasttest.CloseAll(t, all[:1])
			all[0].Abort()
			for rank, err := range fasttest.OnAll(all[1:], func(c *Comm) error {
				for range 20 {
					if err := SendRecvReplace(t.Context(), c, []int{c.Rank()}, 3-c.Rank(), 3-c.Rank()); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank+1, err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestBecause: why a communicator could not be made names ranks of the one that it was to be made of, in its text as in
// its errors.
func TestBecause(t *testing.T) {
	all := worlds[0].Comms(t, 3)
	defer fasttest.CloseAll(t, all)
	c := all[1]
	err := c.because(fmt.Errorf("making communicator x, rank 1 of 2: %w", &PeerError{Rank: 0, Err: ErrDied}), []int{2, 1})
	if text := err.Error(); !slices.Equal(Culprits(err), []int{2}) || !errors.Is(err, ErrDied) ||
		strings.Contains(text, "rank 0") ||
		!strings.Contains(text, "rank 2: ") {
		t.Errorf("%v blames %v", err, Culprits(err))
	}
	own := errors.New("no memory")
	if err := c.because(own, []int{2, 1}); err != own {
		t.Errorf("%v, want %v", err, own)
	}
}

// TestSplitKeys: Split orders ranks by their keys, however far apart these are.
func TestSplitKeys(t *testing.T) {
	keys := []int{math.MaxInt, 0, math.MinInt, -1}
	all := comms(t, len(keys))
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		d, err := c.Split(t.Context(), 0, keys[c.Rank()])
		if err != nil {
			return err
		}
		defer d.Close()
		if want := []int{3, 2, 0, 1}[c.Rank()]; d.Rank() != want {
			t.Errorf("the rank with key %d becomes %d, want %d", keys[c.Rank()], d.Rank(), want)
		}
		return nil
	}) {
		if err != nil {
			t.Error(rank, err)
		}
	}
}
