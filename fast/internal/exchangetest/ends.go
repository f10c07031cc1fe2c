package exchangetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testTimeout ends the context of a rank that waits in each way: the error names the ranks and the cause.
func testTimeout(t *testing.T, make Make) {
	all := group(t, make, 4)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(30*time.Millisecond, func() { cancel(cause) })
	err := all[0].Exchange(ctx, []wire.Send{{Peer: 3, Data: aligned(tooLong)}, {Peer: 1, Data: aligned(tooLong)}},
		[]wire.Recv{{Peer: 1, Into: aligned(1)}, {Peer: 2}})
	var timeout *wire.TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, cause) || !slices.Equal(timeout.Waiting, []int{1, 2, 3}) {
		t.Error(err)
	}
}

// testWaiting asks a rank, while it waits, for whom: for nobody before that, and after it.
func testWaiting(t *testing.T, make Make) {
	all := group(t, make, 3)
	succeed(t, all[:2], func(ctx context.Context, e rank) error {
		if e.rank == 0 {
			return e.send(ctx, 1, []byte{1})
		}
		return e.receive(ctx, 0, aligned(1))
	})
	if got := all[1].Waiting(); len(got) != 0 {
		t.Errorf("an idle rank waits for %v", got)
	}
	done := asynchronously(func() error { return all[0].Exchange(t.Context(), nil, []wire.Recv{{Peer: 2}, {Peer: 1}}) })
	becomes(t, all[0], []int{1, 2})
	if err := all[1].send(t.Context(), 0, nil); err != nil {
		t.Error(err)
	}
	becomes(t, all[0], []int{2})
	if err := errors.Join(all[2].send(t.Context(), 0, nil), <-done); err != nil {
		t.Error(err)
	}
	becomes(t, all[0], nil)
}

// testMoved has a rank receive several messages in one Exchange: while it waits for the next one, it says that
// something has moved since it waited for the one before, and nothing else moves.
func testMoved(t *testing.T, make Make) {
	all := group(t, make, 2)
	recvs := slices.Repeat([]wire.Recv{{Peer: 1}}, 4)
	done := asynchronously(func() error { return all[0].Exchange(t.Context(), nil, recvs) })
	becomes(t, all[0], []int{1})
	for range recvs {
		before := all[0].Moved()
		time.Sleep(30 * time.Millisecond)
		if now := all[0].Moved(); now != before {
			t.Errorf("%d moved, and then %d, without a message", before, now)
		}
		if err := all[1].send(t.Context(), 0, nil); err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); all[0].Moved() == before && len(done) == 0; time.Sleep(time.Millisecond) {
			if time.Since(start) > long {
				t.Fatalf("it is not told that a message came: %d", before)
			}
		}
	}
	if err := ended(t, done); err != nil {
		t.Error(err)
	}
}

// becomes waits until e waits for those ranks.
func becomes(t *testing.T, e rank, want []int) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		got := e.Waiting()
		if slices.Equal(got, want) {
			return
		}
		if time.Since(start) > long {
			t.Fatalf("rank %d waits for %v, want %v", e.rank, got, want)
		}
	}
}

func asynchronously(f func() error) chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// ended returns what f returns, within a time that is long for any test.
func ended(t *testing.T, done chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(long):
		t.Fatal("it does not end")
		return nil
	}
}

// Soon fails the test if f does not end, within a time that is long for any test.
func Soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(long):
		t.Fatalf("%s does not end", what)
	}
}

// testFail ends the wait of a rank with the error that it is given, and gives it to every later call. Others do not
// hear of it.
func testFail(t *testing.T, make Make) {
	all := group(t, make, 3)
	first := &wire.PeerError{Rank: 2, Err: wire.ErrFrozen}
	done := asynchronously(func() error { return all[0].receive(context.Background(), 1, aligned(1)) })
	becomes(t, all[0], []int{1})
	all[0].Fail(first)
	all[0].Fail(errors.New("a second one"))
	for range 2 {
		if err := ended(t, done); err != error(first) {
			t.Errorf("got %v, want %v", err, first)
		}
		becomes(t, all[0], []int{1}) // it still says whom it was waiting for
		done = asynchronously(func() error { return all[0].Exchange(context.Background(), nil, nil) })
	}
	succeed(t, all[1:], func(ctx context.Context, e rank) error {
		if e.rank == 1 {
			return e.send(ctx, 2, aligned(1000))
		}
		return e.receive(ctx, 1, aligned(1000))
	})
}

// exchangeAll has all ranks exchange a message with all others.
func exchangeAll(t *testing.T, all []rank) {
	t.Helper()
	var step []Message
	for from := range all {
		for to := range all {
			if from != to {
				step = append(step, Message{From: from, To: to, Length: 100})
			}
		}
	}
	succeed(t, all, Plan{step}.carryOut)
}

// testClose has a rank leave after its last message: what it has sent still comes, who waits for it then fails, and
// nobody else.
func testClose(t *testing.T, make Make) {
	all := group(t, make, 3)
	exchangeAll(t, all)
	waiting := asynchronously(func() error { return all[2].receive(context.Background(), 0, aligned(1)) })
	becomes(t, all[2], []int{0})
	sent := filled(1, 2, 3000)
	last := asynchronously(func() error {
		return errors.Join(all[0].send(context.Background(), 1, sent), all[0].Close(), all[0].Close())
	})
	into := aligned(len(sent))
	if err := all[1].receive(t.Context(), 0, into); err != nil || string(into) != string(sent) {
		t.Errorf("what was sent before: %v", err)
	}
	if err := ended(t, last); err != nil {
		t.Error(err)
	}
	wantPeer(t, ended(t, waiting), 0, wire.ErrClosed)
	wantPeer(t, all[1].receive(t.Context(), 0, aligned(1)), 0, wire.ErrClosed)
	if err := all[0].send(t.Context(), 1, nil); err != wire.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	succeed(t, all[1:], func(ctx context.Context, e rank) error {
		peer := 3 - e.rank
		return e.Exchange(ctx, []wire.Send{{Peer: peer, Data: sent}}, []wire.Recv{{Peer: peer, Into: aligned(len(sent))}})
	})
}
