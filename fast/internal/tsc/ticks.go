// Package tsc is a clock that is read in a third of the time that time.Now takes: it counts the processor's ticks, and
// tells only later which times they were. It is for what is noted often and looked at rarely.
package tsc

import "time"

// Clock counts from the moment that it was made. It may be used by several goroutines at once.
type Clock struct {
	origin time.Time
	first  int64
	counts bool // the processor's ticks; otherwise nanoseconds
}

// NewClock returns a clock that begins now.
func NewClock() *Clock { return &Clock{origin: time.Now(), first: counter(), counts: steady} }

// OfTime returns a clock that begins now and reads package time's, which a test may have simulated.
func OfTime() *Clock { return &Clock{origin: time.Now()} }

// Origin returns the time at which c began.
func (c *Clock) Origin() time.Time { return c.origin }

// Now returns the current tick.
func (c *Clock) Now() int64 {
	if c.counts {
		return counter()
	}
	return int64(time.Since(c.origin))
}

// Elapsed returns how long after the origin a tick was. It is taken from how far both clocks have come by now, so it is
// the more exact the longer c has run: after a second, to a microsecond or better.
func (c *Clock) Elapsed(tick int64) time.Duration {
	if !c.counts {
		return time.Duration(tick)
	}
	elapsed, ticks := time.Since(c.origin), counter()-c.first
	if ticks <= 0 {
		return 0
	}
	return time.Duration(float64(tick-c.first) * (float64(elapsed) / float64(ticks)))
}
