package links

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestEnd: what Fail is given first comes before what a rank finds out by itself, and that before what happened in an Exchange.
func TestEnd(t *testing.T) {
	var e End
	first, later, doom, happened := errors.New("first"), errors.New("later"), errors.New("doom"), errors.New("happened")
	if e.Enter() != nil || e.Reason() != nil || e.Outcome(nil) != nil || e.Outcome(happened) != happened {
		t.Error("nothing has ended it")
	}
	e.Doom(doom)
	e.Doom(later)
	if e.Reason() != doom || e.Failed() != nil || e.Outcome(happened) != happened {
		t.Errorf("after Doom: %v, %v", e.Reason(), e.Failed())
	}
	if !e.Fail(first) || e.Fail(later) || e.Reason() != first || e.Failed() != first || e.Outcome(happened) != first || e.Outcome(nil) != nil {
		t.Errorf("after Fail: %v, %v", e.Reason(), e.Failed())
	}
	if e.Leave(); e.Enter() != first {
		t.Errorf("an Exchange begins after Fail")
	}
}

// TestDrain: only who ends without a failure has all that was sent go out, as long as anything arrives.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed, patient, failed, doomed End
		closed.Fail(wire.ErrClosed)
		patient.Fail(wire.ErrClosed)
		patient.Silence = time.Minute
		failed.Fail(wire.ErrAborted)
		doomed.Doom(wire.ErrAborted)
		doomed.Fail(wire.ErrClosed)
		for _, test := range []struct {
			of       *End
			arrivals int // of a byte, one each half of LastWord, and then nothing
			lasts    time.Duration
		}{
			{&closed, 0, LastWord}, {&closed, 1000, 499*LastWord + LastWord + LastWord/2}, {&patient, 2, LastWord/2 + time.Minute},
			{&failed, 1000, afterFailure}, {&doomed, 1000, afterFailure},
		} {
			d, start := test.of.Drain(), time.Now()
			left := func() int { return 2000 - min(int(time.Since(start)/(LastWord/2)), max(0, test.arrivals-1)) }
			for d.GoesOn(left()) {
				time.Sleep(time.Millisecond)
			}
			if lasted := time.Since(start); lasted != test.lasts {
				t.Errorf("%+v: it lasts %v", test, lasted)
			}
		}
		if d := closed.Drain(); d.GoesOn(0) {
			t.Error("it goes on although all has arrived")
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

// TestReleasedOnce: whoever uses and closes an endpoint, in whatever order, one of them has to release it, after all use.
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
