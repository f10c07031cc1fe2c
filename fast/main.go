package fast

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Main calls f as the rank that a launcher has made this process, or, if Detect finds no launcher, as each of n ranks
// that are goroutines. It is Init or Run, with the options of FromEnv and then opts, so a program with it runs alone
// and under any launcher:
//
//	err := fast.Main(ctx, 4, func(ctx context.Context, c *fast.Comm) error { … })
//
// The rank's Comm is closed when f returns. If f fails, panics or ends its goroutine, the communicator is aborted
// first, so that no other rank waits for this one. Main returns f's error, or those of Init, Run or Close.
func Main(ctx context.Context, n int, f func(ctx context.Context, c *Comm) error, opts ...InitOption) (err error) {
	opts = append(FromEnv(), opts...)
	if _, err := Detect(); errors.Is(err, ErrNoLauncher) {
		return Run(ctx, n, f, opts...)
	}
	if f == nil {
		return wire.Refuse("Main", "the function is nil")
	}
	c, err := Init(ctx, opts...)
	if err != nil {
		return err
	}
	err = errLeft
	defer func() {
		if err != nil {
			c.abort(err)
		}
		if closed := c.Close(); err == nil {
			err = closed
		}
	}()
	return f(ctx, c)
}
