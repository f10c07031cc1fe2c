package simulate

import (
	"math"
	"time"
)

// Time is a time, or how long something takes, in picoseconds: ties are then ties, on every machine.
type Time int64

// horizon is where time ends: 26 days. What takes longer takes so long.
const horizon Time = 1 << 61

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e12 }

// Duration returns t rounded to nanoseconds.
func (t Time) Duration() time.Duration { return time.Duration((t + 500) / 1000) }

// ofSeconds returns the Time of s seconds, s >= 0.
func ofSeconds(s float64) Time {
	if s >= horizon.Seconds() {
		return horizon
	}
	return Time(math.Round(s * 1e12))
}

// after returns t and d more.
func (t Time) after(d Time) Time { return min(t, horizon-min(d, horizon)) + min(d, horizon) }

// Part is what time goes to.
type Part int

// The parts of a time.
const (
	Latency   Part = iota // messages on their way, without their bytes
	Overhead              // cores that begin to send and receive messages
	Wire                  // bytes on links
	Copying               // bytes that cores copy
	Reducing              // bytes that cores reduce
	Switching             // cores that go over to another rank
	partCount
)

// String returns the part's name: "latency".
func (p Part) String() string {
	return [...]string{"latency", "overhead", "wire", "copying", "reducing", "switching"}[p]
}

// Parts is a time by what it went to.
type Parts [partCount]Time

// Total returns the whole time.
func (p Parts) Total() (t Time) {
	for _, d := range p {
		t = t.after(d)
	}
	return t
}

// moment is a point in time and what the time since the start went to, along the chain of things each of which waited
// for the one before.
type moment struct {
	at    Time
	parts Parts
}

// plus is d later, on account of p.
func (m moment) plus(p Part, d Time) moment {
	at := m.at.after(d)
	m.parts[p] += at - m.at
	m.at = at
	return m
}

// later returns the later one of two moments; x if they are at the same time.
func later(x, y moment) moment {
	if y.at > x.at {
		return y
	}
	return x
}
