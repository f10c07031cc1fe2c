package colltest

import (
	"bytes"
	"context"
	"time"
)

// watch has another goroutine compare memory with what it has to be, until the function that it returns is called, or
// ctx ends. That function reports whether there was a difference. It compares often at first, and then more rarely:
// calls that last are mostly those that wait.
func watch(ctx context.Context, memory, want []byte) (stop func() (changed bool)) {
	over, result := make(chan struct{}), make(chan bool, 1)
	go func() {
		changed, next := false, time.NewTimer(0)
		defer next.Stop()
		for pause := 20 * time.Microsecond; ; pause = min(pause*3/2, rarely) {
			begun := time.Now()
			changed = changed || !bytes.Equal(memory, want)
			next.Reset(max(pause, 4*time.Since(begun))) // most of the time is the call's
			select {
			case <-over:
				result <- changed
				return
			case <-ctx.Done():
				result <- changed
				return
			case <-next.C:
			}
		}
	}()
	return func() bool {
		close(over)
		return <-result
	}
}

// rarely is the longest time between two looks at short memory: half of the shortest change that a test plants.
const rarely = 500 * time.Microsecond
