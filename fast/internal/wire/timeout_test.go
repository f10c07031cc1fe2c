package wire

import (
	"context"
	"errors"
	"fmt"
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
		{cancelled(Ended(expired(mine))), context.DeadlineExceeded, context.Canceled, true, true,
			"context deadline exceeded: mine"},
	} {
		err := Timeout(x.ctx, []int{1})
		if !errors.Is(err, x.is) || errors.Is(err, x.not) || err.Timeout() != x.timeout || errors.Is(err, mine) != x.mine ||
			err.Err.Error() != x.sentence {
			t.Errorf("%v: want %q", err, x.sentence)
		}
	}
}

// TestOwn: an error is a rank's own if it is in no PeerError, whatever it is joined with.
func TestOwn(t *testing.T) {
	own, others := &TimeoutError{Waiting: []int{1}, Err: context.Canceled}, &TimeoutError{Waiting: []int{2},
		Err: context.Canceled}
	ofPeer, died := &PeerError{Rank: 3, Err: fmt.Errorf("%w: %w", ErrAborted, others)}, &PeerError{Rank: 4, Err: ErrDied}
	for _, x := range []struct {
		err  error
		want *TimeoutError
	}{
		{nil, nil},
		{ErrClosed, nil},
		{own, own},
		{fmt.Errorf("Barrier: %w", own), own},
		{ofPeer, nil},
		{fmt.Errorf("Barrier: %w", ofPeer), nil},
		{errors.Join(died, ofPeer), nil},
		{errors.Join(ofPeer, died), nil},
		{errors.Join(own, ofPeer), own},
		{errors.Join(ofPeer, own), own},
		{fmt.Errorf("%w: %w", died, own), own},
	} {
		if got, ok := Expired(x.err); got != x.want || ok != (x.want != nil) {
			t.Errorf("%v: %v is its own, want %v", x.err, got, x.want)
		}
	}
	if peer, ok := Own[*PeerError](errors.Join(ErrClosed, ofPeer)); peer != ofPeer || !ok {
		t.Errorf("the PeerError itself: %v", peer)
	}
}

// TestListed: a text lists few ranks, and says how many more there are.
func TestListed(t *testing.T) {
	var ranks []int
	for n := range 20 {
		want := fmt.Sprint(ranks)
		if n > 16 {
			want = fmt.Sprintf("[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 and %d more]", n-16)
		}
		if got := fmt.Sprint(Listed(ranks)); got != want {
			t.Errorf("%d ranks: %s, want %s", n, got, want)
		}
		ranks = append(ranks, n)
	}
}
