package linkbase

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestEnd: what Fail is given first comes before what a rank finds out by itself, and that before what happened in an
// Exchange.
func TestEnd(t *testing.T) {
	var e End
	first, later, doom, happened := errors.New("first"), errors.New("later"), errors.New("doom"), errors.New("happened")
	if e.Enter() != nil || e.Reason() != nil || e.Outcome(nil) != nil || e.Outcome(happened) != happened {
		t.Error("nothing has ended it")
	}
	e.Break(doom)
	e.Break(later)
	if e.Reason() != doom || e.Failed() != nil || e.Outcome(happened) != happened {
		t.Errorf("after Doom: %v, %v", e.Reason(), e.Failed())
	}
	if !e.Fail(first) || e.Fail(later) || e.Reason() != first || e.Failed() != first || e.Outcome(happened) != first ||
		e.Outcome(nil) != nil {
		t.Errorf("after Fail: %v, %v", e.Reason(), e.Failed())
	}
	if e.Leave(); e.Enter() != first {
		t.Errorf("an Exchange begins after Fail")
	}
}

// TestDrain: who ends without a failure waits for all that was sent, however long nothing arrives, and tells for whom;
// after a failure, little.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			doom, fate error
			arrives    time.Duration // when all has
			lasts      time.Duration
		}{
			{nil, wire.ErrClosed, time.Hour, time.Hour}, {nil, wire.ErrClosed, 0, 0},
			{nil, wire.ErrAborted, time.Hour, drainAfterFailure}, {wire.ErrAborted, wire.ErrClosed, time.Hour,
				drainAfterFailure},
			{nil, wire.ErrAborted, drainAfterFailure / 2, drainAfterFailure / 2},
		} {
			var e Endpoint
			e.End.Break(test.doom)
			e.End.Fail(test.fate)
			d, start, looks := e.Drain(), time.Now(), 0
			left := func() (int, []int) {
				if time.Since(start) >= test.arrives {
					return 0, nil
				}
				return 7, []int{2, 3}
			}
			for d.Continue(left()) {
				if at := e.Waiting(); !slices.Equal(at, []int{2, 3}) {
					t.Errorf("%+v: it waits for %v", test, at)
				}
				looks++
				time.Sleep(d.Interval())
			}
			if lasted := time.Since(start); lasted < test.lasts || lasted > test.lasts+MaxSleep || len(e.Waiting()) > 0 {
				t.Errorf("%+v: it lasts %v, and then waits for %v", test, lasted, e.Waiting())
			}
			if most := int(test.lasts/MaxSleep) + 10; looks > most {
				t.Errorf("%+v: it has looked %d times, want %d at most", test, looks, most)
			}
		}
	})
}

// TestRelease: who uses an endpoint when it is closed releases it, and otherwise who closes it first.
func TestRelease(t *testing.T) {
	var used, unused End
	if used.Enter() != nil || used.Close() || !used.Leave() || used.Close() {
		t.Error("one that is closed in use")
	}
	if unused.Enter() != nil || unused.Leave() || !unused.Close() || unused.Close() {
		t.Error("one that is closed when it was used")
	}
}

// TestReleasedOnce: whoever uses and closes an endpoint, in whatever order, one of them has to release it, after all
// use.
func TestReleasedOnce(t *testing.T) {
	for range 1000 {
		var e End
		var all sync.WaitGroup
		used, released := 0, 0 // the race detector sees a release beside a use
		all.Go(func() {
			for e.Enter() == nil {
				used++
				if e.Leave() {
					released++
				}
			}
		})
		for range 2 {
			all.Go(func() {
				e.Fail(wire.ErrClosed)
				if e.Close() {
					used, released = 0, released+1
				}
			})
		}
		if all.Wait(); released != 1 || !e.Closed() {
			t.Fatalf("released %d times", released)
		}
	}
}
