//go:build linux && cgo && !netgo

package device

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// limit returns how long one step in a driver may take.
func (o *Options) limit() time.Duration { return cmp.Or(o.Limit, 10*time.Second) }

// limited returns a context for one step in a driver.
func (o *Options) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.limit(), fmt.Errorf("its driver hangs: it has done nothing for %v", o.limit()))
}

// half returns a context for what such a step waits for itself. It ends before the context that limited returns.
func (o *Options) half(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.limit()/2, fmt.Errorf("not in %v", o.limit()/2))
}

// within returns what f returns, or the cause of the end of ctx. f calls drivers, in C, where nothing can interrupt
// them: if one hangs, the goroutine of f and its thread hang too. If f returns after within has given up, its result
// goes to late.
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
