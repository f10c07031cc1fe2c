package tsc

import (
	"testing"
	"time"
)

// TestElapsed compares ticks with the clock: each lies between the times before and after it was taken. The test may be
// interrupted while both clocks are read, so it has several tries.
func TestElapsed(t *testing.T) {
	c := NewClock()
	if !steady {
		t.Log("the processor's counter is not steady here: the ticks are the clock's")
	}
	for last := int64(-1 << 63); ; {
		before := time.Since(c.Origin())
		tick := c.Now()
		after := time.Since(c.Origin())
		if tick <= last {
			t.Fatalf("tick %d after tick %d", tick, last)
		}
		last = tick
		const exact = 100 * time.Microsecond
		got := c.Elapsed(tick)
		if before > 10*time.Millisecond && got > before-exact && got < after+exact {
			return
		}
		if before > 10*time.Second {
			t.Fatalf("a tick was after %v, want between %v and %v", got, before, after)
		}
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkNow(b *testing.B) {
	c := NewClock()
	b.Run("ticks", func(b *testing.B) {
		for b.Loop() {
			c.Now()
		}
	})
	b.Run("time", func(b *testing.B) {
		for b.Loop() {
			time.Since(c.origin)
		}
	})
}
