package inproc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// testSegment is small, so that short messages have several segments.
const testSegment = 1 << 10

// together calls f for each of size ranks, each in its own goroutine, and waits for all of them.
func together(size int, f func(rank int, e *Endpoint) error) []error {
	errs := make([]error, size)
	var ranks sync.WaitGroup
	for rank, e := range newNetwork(size, testSegment).endpoints {
		ranks.Go(func() { errs[rank] = f(rank, e) })
	}
	ranks.Wait()
	return errs
}

func mustAll(t testing.TB, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// blend is a kernel in which the order of the operands matters.
func blend(dst, a, b []byte) {
	for i := range dst {
		dst[i] = 3*a[i] + b[i]
	}
}

// TestMismatch has two ranks make different calls: both learn of it, each from its own side.
func TestMismatch(t *testing.T) {
	call := wire.Call{Seq: 3, Primitive: 1, Count: 10, PrimitiveName: wire.NewLabel("AllReduce")}
	other := call
	other.Count = 20
	for _, test := range []struct {
		name  string
		calls [2]wire.Call
		bytes [2]int
		want  [2]wire.MismatchError
	}{
		{"count", [2]wire.Call{call, other}, [2]int{8, 8}, [2]wire.MismatchError{
			{Rank: 1, Seq: 3, TheirSeq: 3, Field: "count", Mine: "10", Theirs: "20"}, {Rank: 0, Seq: 3, TheirSeq: 3,
				Field: "count", Mine: "20", Theirs: "10"}}},
		{"message length", [2]wire.Call{call, call}, [2]int{8, 16}, [2]wire.MismatchError{
			{Rank: 1, Seq: 3, TheirSeq: 3, Field: "message length", Mine: "8 bytes", Theirs: "16 bytes"},
			{Rank: 0, Seq: 3, TheirSeq: 3, Field: "message length", Mine: "16 bytes", Theirs: "8 bytes"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs := together(2, func(rank int, e *Endpoint) error {
				e.Begin(wire.NewMark(&test.calls[rank]))
				data := make([]byte, test.bytes[rank])
				if rank == 0 {
					return e.Exchange(context.Background(), []wire.Send{{Peer: 1, Data: data}}, nil)
				}
				return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: 0, Into: data}})
			})
			for rank, err := range errs {
				var got *wire.MismatchError
				if !errors.As(err, &got) {
					t.Fatalf("rank %d: %v", rank, err)
				}
				if diff := cmp.Diff(test.want[rank], *got); diff != "" {
					t.Errorf("rank %d (-want +got):\n%s", rank, diff)
				}
			}
		})
	}
}

// TestContext ends a rank's context while it waits; the bubble's clock only moves on when all ranks sleep on channels.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := together(4, func(rank int, e *Endpoint) error {
			if rank > 1 {
				return nil
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rank)*time.Hour)
			defer cancel()
			return e.Exchange(ctx, []wire.Send{{Peer: 3}}, []wire.Recv{{Peer: 2}, {Peer: 1 - rank}})
		})
		for rank, err := range errs[:2] {
			var timeout *wire.TimeoutError
			if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(timeout.Waiting,
				[]int{1 - rank, 2, 3}) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

func wantPeer(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got %v, want rank %d: %v", err, rank, cause)
	}
}

// TestClose has a rank leave after its last message: who has business with it later fails, and nobody else.
func TestClose(t *testing.T) {
	mustAll(t, together(3, func(rank int, e *Endpoint) error {
		ctx := context.Background()
		peers := []wire.Send{{Peer: (rank + 1) % 3}}
		if err := e.Exchange(ctx, peers, []wire.Recv{{Peer: (rank + 2) % 3}}); err != nil {
			return err
		}
		if rank == 0 {
			err := errors.Join(e.Close(), e.Close())
			if after := e.Exchange(ctx, peers, nil); after != wire.ErrClosed {
				err = errors.Join(err, fmt.Errorf("after Close: %v", after))
			}
			return err
		}
		if err := e.Exchange(ctx, []wire.Send{{Peer: 3 - rank}}, []wire.Recv{{Peer: 3 - rank}}); err != nil {
			return err
		}
		err := e.Exchange(ctx, []wire.Send{{Peer: 0}}, nil)
		if rank == 2 {
			err = e.Exchange(ctx, nil, []wire.Recv{{Peer: 0}})
		}
		wantPeer(t, err, 0, wire.ErrClosed)
		return nil
	}))
}

// TestCloseWhileWaiting closes a rank from another goroutine.
func TestCloseWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := New(2)
		go func() {
			time.Sleep(time.Second)
			_ = ends[0].Close()
		}()
		if err := ends[0].Exchange(context.Background(), nil, []wire.Recv{{Peer: 1}}); err != wire.ErrClosed {
			t.Errorf("got %v", err)
		}
	})
}

// TestWithdraw writes to what it has sent as soon as Exchange has failed, while the receiver may be in the middle of
// it: the race detector sees a receiver that still reads.
func TestWithdraw(t *testing.T) {
	const n = 64 * testSegment
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		errs := together(2, func(rank int, e *Endpoint) error {
			if rank == 1 {
				taken := 0
				kernel := func(dst, a, b []byte) {
					if taken++; taken == 3 {
						cancel()
					}
					blend(dst, a, b)
				}
				into := make([]byte, n)
				return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: 0, Into: into, Kernel: kernel, With: into},
					{Peer: 0}})
			}
			data := make([]byte, n)
			err := e.Exchange(ctx, []wire.Send{{Peer: 1, Data: data}}, nil)
			for i := range data { // the race detector overlooks clear
				data[i] = 1
			}
			return errors.Join(err, e.Close())
		})
		if !errors.Is(errs[0], context.Canceled) && errs[0] != nil {
			t.Fatalf("rank 0: %v", errs[0])
		}
		wantPeer(t, errs[1], 0, wire.ErrClosed)
	}
}

// TestLongExchange cancels a receiver that never has to wait.
func TestLongExchange(t *testing.T) {
	const n = 1000 * testSegment
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := together(2, func(rank int, e *Endpoint) error {
		defer e.Close()
		if rank == 0 {
			return e.Exchange(context.Background(), []wire.Send{{Peer: 1, Data: make([]byte, n)}}, nil)
		}
		into := make([]byte, n)
		return e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: into, With: into, Kernel: func(_, _, _ []byte) { cancel() }}})
	})
	if !errors.Is(errs[1], context.Canceled) {
		t.Errorf("the receiver: %v", errs[1])
	}
	wantPeer(t, errs[0], 1, wire.ErrClosed)
}

// TestPanic: after the panic of a kernel nobody reads what this rank has sent, and the sender of what the kernel was to
// reduce can have it back.
func TestPanic(t *testing.T) {
	ends, data := New(2), make([]byte, 8)
	if err := ends[1].list([]wire.Send{{Peer: 0, Data: data}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ends[1].advance(); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = ends[0].Exchange(context.Background(), []wire.Send{{Peer: 1, Data: data}},
			[]wire.Recv{{Peer: 1, Into: data, With: data, Kernel: func(_, _, _ []byte) { panic("kernel") }}})
	}()
	if state := ends[0].net.link(0, 1).state.Load(); state != idle {
		t.Errorf("what was sent is in state %d", state)
	}
	if state := ends[0].net.link(1, 0).state.Load(); state != posted {
		t.Errorf("what was being received is in state %d", state)
	}
}
