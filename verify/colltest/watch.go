package colltest

import (
	"bytes"
	"context"
	"time"
)

// watch has another goroutine compare memory with what it has to be, until the function that it returns is called, or
// ctx ends. That function reports whether there was a difference.
func watch(ctx context.Context, memory, want []byte) (stop func() (changed bool)) {
	over, result := make(chan struct{}), make(chan bool, 1)
	go func() {
		changed := false
		for {
			begun := time.Now()
			changed = changed || !bytes.Equal(memory, want)
			pause := max(20*time.Microsecond, 4*time.Since(begun)) // most of the time is the call's
			select {
			case <-over:
				result <- changed
				return
			case <-ctx.Done():
				result <- changed
				return
			case <-time.After(pause):
			}
		}
	}()
	return func() bool {
		close(over)
		return <-result
	}
}
