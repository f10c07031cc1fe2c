//go:build !linux

package fast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// connect fails: memory is shared between processes on Linux alone.
func connect(context.Context, *place) (transport, error) {
	return nil, fmt.Errorf("ranks as processes are not supported on %s (%w); Run has them as goroutines",
		runtime.GOOS, errors.ErrUnsupported)
}
