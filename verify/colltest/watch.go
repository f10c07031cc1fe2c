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
			changed = changed || !bytes.Equal(memory, want)
			select {
			case <-over:
				result <- changed
				return
			case <-ctx.Done():
				result <- changed
				return
			case <-time.After(20 * time.Microsecond):
			}
		}
	}()
	return func() bool {
		close(over)
		return <-result
	}
}
