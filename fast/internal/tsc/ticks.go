// Package tsc is a clock that takes a third of the time of time.Now to read. It returns ticks of the processor, which
// are converted to times only later. It is meant for times that are recorded often and looked at rarely.
package tsc

import "time"

// Clock counts from the moment at which it was made. Several goroutines may use it at once.
type Clock struct {
	origin time.Time
	first  int64
	counts bool // the processor's ticks; otherwise nanoseconds
}

// NewClock returns a clock that starts now.
func NewClock() *Clock { return &Clock{origin: time.Now(), first: counter(), counts: steady} }

// OfTime returns a clock that starts now and uses package time, whose clock tests may simulate.
func OfTime() *Clock { return &Clock{origin: time.Now()} }

// Origin returns the time at which c started.
func (c *Clock) Origin() time.Time { return c.origin }

// Now returns the current tick.
func (c *Clock) Now() int64 {
	if c.counts {
		return counter()
	}
	return int64(time.Since(c.origin))
}

// Elapsed returns the time from the origin to a tick. It computes the rate from both clocks at present, so it is more
// exact the longer c has run: within a microsecond after a second.
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
