package limits

import (
	"context"
	"time"
)

// Limit is the best that this machine can do, with any algorithm: a bandwidth or a latency.
type Limit struct {
	Name    string  `json:"limit"` // copy, reduce, …
	Where   string  `json:"where"` // the level of the memory, or between what
	Bytes   int     `json:"bytes"` // of one operand or message
	Cores   int     `json:"cores"` // at work at the same time
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`              // GB/s (10⁹ bytes of one operand) or us (one way)
	Refused string  `json:"refused,omitempty"` // why there is no value
}

// probe measures limits of one kind.
type probe struct {
	name string
	run  func(ctx context.Context) ([]Limit, error)
}

// probeTime is how long a value is measured at least. The best of several such times counts, because a limit is what
// can be reached.
const (
	probeTime  = 10 * time.Millisecond
	probeTries = 5
)

// best returns the shortest time of one repetition, in seconds. f repeats something n times; n grows until that is long
// enough for the clock.
func best(ctx context.Context, f func(n int) error) (float64, error) {
	shortest := 0.0
	for n, tries := 1, 0; tries < probeTries; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := f(n); err != nil {
			return 0, err
		}
		took := time.Since(start)
		if took < probeTime {
			n *= 2
			continue
		}
		if once := took.Seconds() / float64(n); tries == 0 || once < shortest {
			shortest = once
		}
		tries++
	}
	return shortest, nil
}
