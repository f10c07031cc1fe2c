package wire

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestTimeout: the error of a wait is its context's, whatever cause the context was given.
func TestTimeout(t *testing.T) {
	mine := errors.New("mine")
	expired := func(cause error) context.Context {
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Nanosecond, cause)
		t.Cleanup(cancel)
		<-ctx.Done()
		return ctx
	}
	cancelled := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		return ctx
	}
	for _, x := range []struct {
		ctx      context.Context
		is, not  error
		timeout  bool
		mine     bool
		sentence string
	}{
		{expired(nil), context.DeadlineExceeded, context.Canceled, true, false, "context deadline exceeded"},
		{expired(mine), context.DeadlineExceeded, context.Canceled, true, true, "context deadline exceeded: mine"},
		{cancelled(nil), context.Canceled, context.DeadlineExceeded, false, false, "context canceled"},
		{cancelled(mine), context.Canceled, context.DeadlineExceeded, false, true, "context canceled: mine"},
		{cancelled(&Inner{mine}), mine, context.Canceled, false, true, "mine"},
		{cancelled(Ended(expired(mine))), context.DeadlineExceeded, context.Canceled, true, true, "context deadline exceeded: mine"},
	} {
		err := Timeout(x.ctx, []int{1})
		if !errors.Is(err, x.is) || errors.Is(err, x.not) || err.Timeout() != x.timeout || errors.Is(err, mine) != x.mine ||
			err.Err.Error() != x.sentence {
			t.Errorf("%v: want %q", err, x.sentence)
		}
	}
}
