//go:build linux && cgo && !netgo

package device

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// limit returns how long a step of drivers may take.
func (o *Options) limit() time.Duration { return cmp.Or(o.Limit, 10*time.Second) }

// limited returns a context for one step of drivers.
func (o *Options) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.limit(), fmt.Errorf("its driver hangs: it has done nothing for %v", o.limit()))
}

// half returns a context for what a step waits for itself: it ends before that of limited.
func (o *Options) half(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.limit()/2, fmt.Errorf("not in %v", o.limit()/2))
}

// within returns what f gives, or what has ended ctx. f calls drivers, in C, where nothing can interrupt them: if one
// hangs, the goroutine of f stays with it, and its thread, for as long as that takes. What f gives when nobody waits
// for it any more goes to late.
func within[T any](ctx context.Context, what string, f func() (T, error), late func(T)) (T, error) {
	type result struct {
		is  T
		err error
	}
	done, left := make(chan result), make(chan struct{})
	go func() {
		is, err := f()
		select {
		case done <- result{is, err}:
		case <-left:
			if err == nil {
				late(is)
			}
		}
	}()
	select {
	case r := <-done:
		return r.is, r.err
	case <-ctx.Done():
		close(left)
		var none T
		return none, fmt.Errorf("RDMA: to %s: %w", what, context.Cause(ctx))
	}
}
