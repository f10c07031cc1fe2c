package inproc

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestWaiting asks a rank that waits whom it waits for, which does not disturb it.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := New(3)
		ask := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := fmt.Sprint(all[0].Waiting()); got != want {
				t.Errorf("waiting for %s, want %s", got, want)
			}
		}
		ask("[]")
		done := make(chan error)
		go func() { done <- all[0].Exchange(context.Background(), sendsTo([]int{2}), recvsFrom([]int{2, 1})) }()
		ask("[]")
		time.Sleep(while)
		ask("[1 2]")
		ask("[1 2]")
		if err := all[2].Exchange(context.Background(), sendsTo([]int{0}), recvsFrom([]int{0})); err != nil {
			t.Error(err)
		}
		ask("[]") // it has gone on
		time.Sleep(while)
		ask("[1]")
		if err := all[1].Exchange(context.Background(), sendsTo([]int{0}), nil); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		ask("[]")
	})
}

// TestWaitingWhileStuck asks ranks again and again while they find out that they wait for each other.
func TestWaitingWhileStuck(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		for rank, err := range together(2, func(rank int, e *Endpoint) error {
			go func() {
				for ; ctx.Err() == nil; time.Sleep(50 * time.Microsecond) {
					e.Waiting()
				}
			}()
			e.Begin(wire.NewMark(&wire.Call{Seq: 1, Root: uint32(rank)}))
			return e.Exchange(context.Background(), nil, recvsFrom([]int{1 - rank}))
		}) {
			if m := (*wire.MismatchError)(nil); !errors.As(err, &m) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		cancel()
	}
}

// TestFail fails a rank: asleep, between calls and, with messages always to come, in the middle of one.
func TestFail(t *testing.T) {
	first := &wire.PeerError{Rank: 2, Err: wire.ErrDied}
	for name, begin := range map[string]func(e *Endpoint) error{
		"asleep":  func(e *Endpoint) error { return e.Exchange(context.Background(), nil, recvsFrom([]int{1})) },
		"between": func(*Endpoint) error { return first },
		"busy": func(e *Endpoint) error {
			go func() {
				for other := e.net.endpoints[1]; other.Exchange(context.Background(), sendsTo([]int{0}), nil) == nil; {
				}
			}()
			for {
				if err := e.Exchange(context.Background(), nil, recvsFrom([]int{1})); err != nil {
					return err
				}
			}
		},
	} {
		all := New(3)
		done := make(chan error)
		go func() { done <- begin(all[0]) }()
		time.Sleep(time.Millisecond)
		all[0].Fail(first)
		all[0].Fail(wire.ErrFrozen)
		if err := <-done; err != first {
			t.Errorf("%s: %v", name, err)
		}
		if err := all[0].Exchange(context.Background(), nil, nil); err != first {
			t.Errorf("%s: then %v", name, err)
		}
		_ = all[1].Close()
	}
}
