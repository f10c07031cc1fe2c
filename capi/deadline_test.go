package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline: a context with a timeout is as one of package context, whether anybody waits for its end or not.
func TestDeadline(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := within(int64(time.Second))
			defer stop()
			if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Second {
				t.Errorf("it ends in %v, %t", time.Until(at), ok)
			}
			if ctx.Err() != nil || ctx.Value("key") != nil {
				t.Errorf("at the beginning: %v", ctx.Err())
			}
			if waits {
				begun := time.Now()
				if <-ctx.Done(); time.Since(begun) != time.Second {
					t.Errorf("it has ended after %v", time.Since(begun))
				}
			} else {
				time.Sleep(time.Second)
			}
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				t.Errorf("in the end: %v", ctx.Err())
			}
			<-ctx.Done()
		})
	}
}

// TestDeadlineStopped: nothing is left of one that is stopped, or synctest would wait for it.
func TestDeadlineStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := within(int64(time.Hour))
		done := ctx.Done()
		stop()
		time.Sleep(2 * time.Hour)
		select {
		case <-done:
			t.Error("its timer goes on")
		default:
		}
	})
}

// TestNoDeadline: without a limit there is no end; for ever is longer than a minute.
func TestNoDeadline(t *testing.T) {
	for _, timeout := range []int64{0, -1} {
		if ctx, _ := within(timeout); ctx.Done() != nil {
			t.Errorf("%d ends", timeout)
		}
	}
	if ctx, _ := limited(0); ctx.Done() != nil {
		t.Error("Init would not end after a minute")
	}
	ctx, stop := limited(-1)
	defer stop()
	if at, ok := ctx.Deadline(); !ok || time.Until(at) < 24*time.Hour {
		t.Errorf("%v, %t", at, ok)
	}
}
