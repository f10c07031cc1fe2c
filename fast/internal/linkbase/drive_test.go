package linkbase

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestIdle: who sleeps for a nap is told to wait, who sleeps for longer wonders, until something moves.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(0, 3)
		for range 2 {
			if err := e.post([]wire.Send{{Peer: 2}, {Peer: 1}}, nil); err != nil || e.Idle() != 0 {
				t.Fatalf("%v: idle for %v at the beginning", err, e.Idle())
			}
			time.Sleep(MaxSleep - 1)
			if e.stalled() || len(e.Waiting()) != 0 {
				t.Errorf("before a nap is over: %v", e.Waiting())
			}
			time.Sleep(time.Nanosecond)
			if e.stalled() || !slices.Equal(e.Waiting(), []int{1, 2}) {
				t.Errorf("after a nap: %v", e.Waiting())
			}
			time.Sleep(StallTime - MaxSleep)
			if !e.stalled() || e.Idle() != StallTime {
				t.Errorf("it does not wonder after %v", e.Idle())
			}
			e.went()
			if e.publish(); e.stalled() || len(e.Waiting()) != 0 {
				t.Errorf("it waits for %v after something moved", e.Waiting())
			}
			e.finish()
			e.clear()
		}
	})
}

// TestYieldWhile: a rank that is to leave its processor to others does not poll, however patient it is.
func TestYieldWhile(t *testing.T) {
	e, polls, yields := newEndpoint(0, 2), 0, false
	e.Patience, e.hooks.Spin = time.Hour, func(time.Duration) { polls++ }
	e.YieldWhile(func() bool { return yields })
	if !e.spin() || polls != 1 {
		t.Errorf("it has polled %d times, want once", polls)
	}
	if yields = true; e.spin() || polls != 1 {
		t.Errorf("it has polled %d times after it was to sleep", polls-1)
	}
}

// TestMoved grows when nothing can be done, and now and then before that.
func TestMoved(t *testing.T) {
	e, looks := newEndpoint(0, 2), 0
	for range 1000 {
		e.went()
		if e.publish() {
			looks++
		}
	}
	if moved := e.Moved(); moved > 1000 || moved < 900 || looks == 0 || looks > 100 {
		t.Errorf("%d of 1000 moves are known, after %d looks", moved, looks)
	}
	if e.Idle(); e.Moved() != 1000 {
		t.Errorf("%d of 1000 moves are known", e.Moved())
	}
}

// went is progress of one message.
func (e *Endpoint) went() {
	e.idle = time.Time{}
	e.moves++
}
