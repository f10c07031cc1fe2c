package inproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// testSegment is small, so that short messages have several segments.
const testSegment = 1 << 10

// lengths of messages around the limits of segments.
var lengths = []int{0, 1, 7, testSegment - 1, testSegment, testSegment + 1, 3*testSegment + 5}

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

// pattern is n bytes that no other seed gives.
func pattern(n int, seed ...int) []byte {
	x := uint32(2166136261)
	for _, s := range seed {
		x = (x ^ uint32(s+1)) * 16777619
	}
	data := make([]byte, n)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return data
}

// blend is a kernel in which the order of the operands matters.
func blend(dst, a, b []byte) {
	for i := range dst {
		dst[i] = 3*a[i] + b[i]
	}
}

// TestExchange has all ranks send several messages of various lengths to each other in the same steps.
func TestExchange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 6).Draw(rt, "size")
		plan := rapid.SliceOfN(rapid.SampledFrom(lengths), 0, 3)
		messages := make([][]int, size*size) // by sender and receiver
		for i := range messages {
			messages[i] = plan.Draw(rt, fmt.Sprintf("from %d to %d", i/size, i%size))
		}
		mustAll(t, together(size, func(rank int, e *Endpoint) error {
			for step := range 3 {
				if err := exchangeAll(e, messages, step); err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

func exchangeAll(e *Endpoint, messages [][]int, step int) error {
	size := len(e.net.endpoints)
	var sends []wire.Send
	var recvs []wire.Recv
	var want [][]byte
	for peer := range size {
		if peer == e.rank {
			continue
		}
		for i, n := range messages[e.rank*size+peer] {
			sends = append(sends, wire.Send{Peer: peer, Data: pattern(n, e.rank, peer, i, step)})
		}
		for i, n := range messages[peer*size+e.rank] {
			recvs = append(recvs, wire.Recv{Peer: peer, Into: make([]byte, n)})
			want = append(want, pattern(n, peer, e.rank, i, step))
		}
	}
	if err := e.Exchange(context.Background(), sends, recvs); err != nil {
		return err
	}
	for i, r := range recvs {
		if !bytes.Equal(r.Into, want[i]) {
			return fmt.Errorf("step %d: a message of %d bytes from rank %d is wrong", step, len(r.Into), r.Peer)
		}
	}
	return nil
}

// TestReduce receives operands, before and after the one here, in place and not.
func TestReduce(t *testing.T) {
	for _, n := range lengths {
		for _, receivedFirst := range []bool{false, true} {
			for _, inPlace := range []bool{false, true} {
				mustAll(t, together(2, func(rank int, e *Endpoint) error {
					if rank == 0 {
						return e.Exchange(context.Background(), []wire.Send{{Peer: 1, Data: pattern(n, 0)}}, nil)
					}
					with, into, want := pattern(n, 1), make([]byte, n), make([]byte, n)
					if blend(want, with, pattern(n, 0)); receivedFirst {
						blend(want, pattern(n, 0), with)
					}
					if inPlace {
						into = with
					}
					err := e.Exchange(context.Background(), nil,
						[]wire.Recv{{Peer: 0, Into: into, Kernel: blend, With: with, ReceivedFirst: receivedFirst}})
					if err == nil && !bytes.Equal(into, want) {
						err = fmt.Errorf("%d bytes, received first %v, in place %v: wrong", n, receivedFirst, inPlace)
					}
					return err
				}))
			}
		}
	}
}

// TestAfterSend has ranks overwrite what they send at once: each pair has a region of its own, and both sides reduce
// into it, or only one of them. Out of place there is nothing to overwrite.
func TestAfterSend(t *testing.T) {
	for _, size := range []int{2, 3, 5} {
		for _, n := range lengths {
			for _, both := range []bool{false, true} {
				for _, inPlace := range []bool{false, true} {
					mustAll(t, together(size, func(_ int, e *Endpoint) error { return swap(e, size, n, both, inPlace) }))
				}
			}
		}
	}
}

func swap(e *Endpoint, size, n int, both, inPlace bool) error {
	var sends []wire.Send
	var recvs []wire.Recv
	for peer := range size {
		if peer == e.rank {
			continue
		}
		data := pattern(n, e.rank, peer)
		sends = append(sends, wire.Send{Peer: peer, Data: data})
		r := wire.Recv{Peer: peer, Into: make([]byte, n), Kernel: blend, With: data, ReceivedFirst: peer < e.rank}
		r.AfterSend = both || peer < e.rank
		if r.AfterSend && inPlace {
			r.Into = data
		}
		recvs = append(recvs, r)
	}
	if err := e.Exchange(context.Background(), sends, recvs); err != nil {
		return err
	}
	for _, r := range recvs {
		low, high := min(r.Peer, e.rank), max(r.Peer, e.rank)
		want := make([]byte, n)
		blend(want, pattern(n, low, high), pattern(n, high, low))
		if !bytes.Equal(r.Into, want) {
			return fmt.Errorf("%d bytes with rank %d: wrong", n, r.Peer)
		}
	}
	return nil
}

// TestSignals has the empty messages of a step counted, and hold a rank back.
func TestSignals(t *testing.T) {
	var entered atomic.Int32
	mustAll(t, together(2, func(rank int, e *Endpoint) error {
		ctx := context.Background()
		if rank == 0 {
			time.Sleep(time.Millisecond)
			entered.Store(1)
			return e.Exchange(ctx, []wire.Send{{Peer: 1}, {Peer: 1}}, nil)
		}
		err := e.Exchange(ctx, nil, []wire.Recv{{Peer: 0}, {Peer: 0}})
		if err == nil && entered.Load() == 0 {
			err = errors.New("the signal came before it was sent")
		}
		return err
	}))
}

// TestManyRanks has far more ranks than processors.
func TestManyRanks(t *testing.T) {
	messages := make([][]int, 64*64)
	for i := range messages {
		messages[i] = []int{8}
	}
	mustAll(t, together(64, func(_ int, e *Endpoint) error {
		for step := range 5 {
			if err := exchangeAll(e, messages, step); err != nil {
				return err
			}
		}
		return nil
	}))
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
			{Rank: 1, Seq: 3, Field: "count", Mine: "10", Theirs: "20"}, {Rank: 0, Seq: 3, Field: "count", Mine: "20", Theirs: "10"}}},
		{"message length", [2]wire.Call{call, call}, [2]int{8, 16}, [2]wire.MismatchError{
			{Rank: 1, Seq: 3, Field: "message length", Mine: "8 bytes", Theirs: "16 bytes"},
			{Rank: 0, Seq: 3, Field: "message length", Mine: "16 bytes", Theirs: "8 bytes"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs := together(2, func(rank int, e *Endpoint) error {
				e.Begin(&test.calls[rank])
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
			err := e.Exchange(ctx, []wire.Send{{Peer: 3}}, []wire.Recv{{Peer: 2}, {Peer: 1 - rank}})
			if err != nil {
				e.Abort()
			}
			return err
		})
		var timeout *wire.TimeoutError
		if !errors.As(errs[0], &timeout) || !errors.Is(errs[0], context.DeadlineExceeded) || !slices.Equal(timeout.Waiting, []int{1, 2, 3}) {
			t.Errorf("rank 0: %v", errs[0])
		}
		wantPeer(t, errs[1], 0, wire.ErrAborted)
	})
}

func wantPeer(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got %v, want rank %d: %v", err, rank, cause)
	}
}

// TestAbort gives up on one rank: the others fail whatever they wait for. Who gives up after that has an error of its own.
func TestAbort(t *testing.T) {
	errs := together(3, func(rank int, e *Endpoint) error {
		if rank == 0 {
			time.Sleep(time.Millisecond)
			e.Abort()
			return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: 1}})
		}
		err := e.Exchange(context.Background(), nil, []wire.Recv{{Peer: 3 - rank}})
		e.Abort()
		return errors.Join(err, e.Exchange(context.Background(), []wire.Send{{Peer: 3 - rank}}, nil))
	})
	for rank, err := range errs {
		if rank > 0 {
			both := err.(interface{ Unwrap() []error }).Unwrap()
			wantPeer(t, both[0], 0, wire.ErrAborted)
			err = both[1]
		}
		if err != wire.ErrAborted {
			t.Errorf("rank %d: %v", rank, err)
		}
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
				return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: 0, Into: into, Kernel: kernel, With: into}, {Peer: 0}})
			}
			data := make([]byte, n)
			err := e.Exchange(ctx, []wire.Send{{Peer: 1, Data: data}}, nil)
			for i := range data { // the race detector overlooks clear
				data[i] = 1
			}
			e.Abort()
			return err
		})
		if !errors.Is(errs[0], context.Canceled) && errs[0] != nil {
			t.Fatalf("rank 0: %v", errs[0])
		}
		wantPeer(t, errs[1], 0, wire.ErrAborted)
	}
}

// TestLongExchange cancels a receiver that never has to wait.
func TestLongExchange(t *testing.T) {
	const n = 1000 * testSegment
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := together(2, func(rank int, e *Endpoint) error {
		defer e.Abort()
		if rank == 0 {
			return e.Exchange(context.Background(), []wire.Send{{Peer: 1, Data: make([]byte, n)}}, nil)
		}
		into := make([]byte, n)
		return e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: into, With: into, Kernel: func(_, _, _ []byte) { cancel() }}})
	})
	if !errors.Is(errs[1], context.Canceled) {
		t.Errorf("the receiver: %v", errs[1])
	}
	wantPeer(t, errs[0], 1, wire.ErrAborted)
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

// TestBadPeer refuses ranks that there are not, and the rank itself.
func TestBadPeer(t *testing.T) {
	for _, peer := range []int{-1, 0, 2} {
		e := New(2)[0]
		if err := e.Exchange(context.Background(), []wire.Send{{Peer: peer}}, nil); err == nil {
			t.Errorf("a send to rank %d is accepted", peer)
		}
		if err := e.Exchange(context.Background(), nil, []wire.Recv{{Peer: peer}}); err == nil {
			t.Errorf("a receive from rank %d is accepted", peer)
		}
	}
}

// TestAllocations counts what an Exchange allocates: nothing.
func TestAllocations(t *testing.T) {
	const runs = 100
	for _, n := range []int{8, 2 * testSegment} {
		ends := newNetwork(2, testSegment).endpoints
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		loop := func(e *Endpoint) func() {
			data := make([]byte, n)
			sends := []wire.Send{{Peer: 1 - e.rank, Data: data}}
			recvs := []wire.Recv{{Peer: 1 - e.rank, Into: data, Kernel: blend, With: data, AfterSend: true}}
			return func() {
				if err := e.Exchange(ctx, sends, recvs); err != nil {
					t.Error(err)
				}
			}
		}
		var other sync.WaitGroup
		other.Go(func() {
			f := loop(ends[1])
			for range runs + 1 { // AllocsPerRun warms up by one more
				f()
			}
		})
		if allocs := testing.AllocsPerRun(runs, loop(ends[0])); allocs != 0 {
			t.Errorf("%d bytes: %v allocations per Exchange", n, allocs)
		}
		other.Wait()
	}
}
