package fast

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// leaveAll closes communicators, which ends the goroutines of started calls.
func leaveAll(all []*Comm) {
	for _, c := range all {
		_ = c.Close()
	}
}

// TestStart starts calls of all kinds on every rank, and waits for them in another order.
func TestStart(t *testing.T) {
	const size = 3
	all := comms(t, size)
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		ctx := t.Context()
		sum, most, gathered := []int64{int64(c.Rank())}, []int64{0}, make([]int64, size)
		handles := []*Handle{
			StartAllReduce(ctx, c, sum, Sum),
			StartAllGatherInto(ctx, c, gathered, []int64{int64(10 * c.Rank())}),
			StartBarrier(ctx, c),
			StartAllReduceInto(ctx, c, most, []int64{int64(-c.Rank())}, Max),
			StartBroadcast(ctx, c, []int64{}, 1),
		}
		for _, h := range slices.Backward(handles) {
			if err := h.Wait(ctx); err != nil {
				return err
			}
		}
		if sum[0] != 3 || most[0] != 0 || !slices.Equal(gathered, []int64{0, 10, 20}) {
			return fmt.Errorf("got %v, %v and %v", sum, most, gathered)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	checkHealthy(t, all)
}

// TestInBackground: a started call runs in the background while nobody waits for it.
func TestInBackground(t *testing.T) {
	for _, test := range []struct {
		name string
		wait func(h *Handle, c *Comm) error
		more int // calls of the other rank after the started one's
	}{
		{"Wait", func(h *Handle, c *Comm) error { return h.Wait(t.Context()) }, 0},
		{"another call", func(h *Handle, c *Comm) error { return Barrier(t.Context(), c) }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := comms(t, 2)
			defer leaveAll(all)
			c := all[0]
			h, waited := StartBarrier(t.Context(), c), make(chan error)
			q := c.queue.Load()
			for !q.inBackground() { // until the queue's goroutine makes it
				runtime.Gosched()
			}
			go func() { waited <- test.wait(h, c) }()
			for q.inBackground() { // until it is waited for
				runtime.Gosched()
			}
			for range 1 + test.more {
				if err := Barrier(t.Context(), all[1]); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-waited; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHandlePinsBuffers has buffers that nothing but a started call knows of: they stay as long as the call may use
// them, also before it begins, and no longer, whoever keeps the handle. TestRefusedUnseen: the error of a call that
// could not be started comes from Close, unless somebody has asked for it before.
func TestRefusedUnseen(t *testing.T) {
	for name, ask := range map[string]func(h *Handle){
		"nobody": func(*Handle) {},
		"Wait":   func(h *Handle) { _ = h.Wait(context.Background()) },
		"Test":   func(h *Handle) { _, _ = h.Test() },
		"Err":    func(h *Handle) { _ = h.Err() },
	} {
		all, x := comms(t, 2), make([]float32, 4)
		for _, h := range []*Handle{StartAllReduce(t.Context(), all[0], x, BAnd), StartSendRecv(t.Context(), all[0], x, 1, x,
			1)} {
			ask(h)
		}
		err := all[0].Close()
		told := errors.Is(err, ErrInvalidArgument) && strings.Contains(err.Error(), "band") &&
			strings.Contains(err.Error(), "SendRecv")
		if told != (name == "nobody") || !told && err != nil {
			t.Errorf("%s has asked: %v", name, err)
		}
		if err := errors.Join(all[0].Close(), all[1].Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestRunTellsRefusedUnseen: Run closes the communicator, and so says what its function did not ask for.
func TestRunTellsRefusedUnseen(t *testing.T) {
	err := Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
		StartAllReduce(ctx, c, []float32{1}, BAnd)
		return Barrier(ctx, c)
	})
	if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "band") {
		t.Error(err)
	}
}

func TestHandlePinsBuffers(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	start := func(call func(buf []int64) *Handle) (*Handle, weak.Pointer[[1 << 12]int64]) {
		buf := new([1 << 12]int64)
		return call(buf[:]), weak.Make(buf)
	}
	in, inBuf := start(func(buf []int64) *Handle { return StartRecv(t.Context(), all[0], buf, 1) })
	back, backBuf := start(func(buf []int64) *Handle { return StartSendRecvReplace(t.Context(), all[0], buf, 1, 1) })
	for _, begun := range []bool{false, true} {
		if begun {
			in.begin()
		}
		time.Sleep(5 * time.Millisecond)
		runtime.GC()
		if inBuf.Value() == nil || backBuf.Value() == nil {
			t.Fatalf("a buffer is gone before the call is over; begun: %v", begun)
		}
	}
	buf := make([]int64, 1<<12)
	if err := errors.Join(Send(t.Context(), all[1], buf, 0), SendRecv(t.Context(), all[1], buf, 0, slices.Clone(buf), 0),
		in.Wait(t.Context()), back.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(fasttest.Generous); inBuf.Value() != nil || backBuf.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("a buffer stays when the call is over")
		}
	}
	runtime.KeepAlive(in)
	runtime.KeepAlive(back)
}

// TestNoBufferStays: after an all-reduce nothing refers to its buffers any more, whichever algorithm made it.
func TestNoBufferStays(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	for _, a := range allReduce.Algorithms {
		var bufs [4]weak.Pointer[[1 << 12]float32]
		var ranks sync.WaitGroup
		for rank, c := range all {
			ranks.Go(func() {
				dst, src := new([1 << 12]float32), new([1 << 12]float32)
				bufs[2*rank], bufs[2*rank+1] = weak.Make(dst), weak.Make(src)
				if err := AllReduceInto(t.Context(), c, dst[:], src[:], Sum, WithAlgorithm(a.Name)); err != nil &&
					!errors.Is(err, ErrInvalidArgument) { // it does not serve two ranks
					t.Errorf("%s: %v", a.Name, err)
				}
			})
		}
		ranks.Wait()
		stay := func() bool {
			return slices.ContainsFunc(bufs[:], func(b weak.Pointer[[1 << 12]float32]) bool { return b.Value() != nil })
		}
		for end := time.Now().Add(fasttest.Generous); stay(); runtime.GC() {
			if time.Now().After(end) {
				t.Fatalf("%s: a buffer stays", a.Name)
			}
		}
	}
}

// TestStartRefused has handles of calls that never begin.
func TestStartRefused(t *testing.T) {
	ctx, all := t.Context(), comms(t, 2)
	defer leaveAll(all)
	c := all[0]
	x := make([]float32, 8)
	for name, h := range map[string]*Handle{
		"nil communicator": StartAllReduce(ctx, nil, x, Sum),
		//lint:ignore SA1012 it is what the test is about
		"nil context":    StartBarrier(nil, c),
		"op":             StartAllReduce(ctx, c, x, BAnd),
		"lengths":        StartAllReduceInto(ctx, c, x[:4], x[4:7], Sum),
		"root":           StartBroadcast(ctx, c, x, 2),
		"algorithm":      StartAllReduce(ctx, c, x, Sum, WithAlgorithm("none")),
		"to itself":      StartSend(ctx, c, x, 0),
		"from nobody":    StartRecv(ctx, c, x, 2),
		"both to itself": StartSendRecv(ctx, c, x[:4], 0, x[4:], 1),
		"in place":       StartSendRecv(ctx, c, x, 1, x, 1),
	} {
		done, err := h.Test()
		if !done || !errors.Is(err, ErrInvalidArgument) || !errors.Is(h.Wait(ctx), err) || h.Err() != err {
			t.Errorf("%s: done %v, %v", name, done, err)
		}
		<-h.Done()
	}
	h := StartBarrier(ctx, all[0])
	//lint:ignore SA1012 it is what the test is about
	if err := h.Wait(nil); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("waiting without a context: %v", err)
	}
	if err := errors.Join(Barrier(ctx, all[1]), h.Wait(ctx)); err != nil {
		t.Error(err)
	}
	checkHealthy(t, all)
}

// TestExchangeOfAll has each rank start sends to and receives from all others, in an order of its own, and wait for
// them in another: whatever the order, nobody waits for ever. Some messages are empty, and large ones wait for room.
func TestExchangeOfAll(t *testing.T) {
	const size, rounds = 5, 20
	all := comms(t, size)
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		for round := range rounds {
			if err := exchangeOfAll(t.Context(), c, (round%4)*(round%3)*1000, round); err != nil {
				return err
			}
		}
		return Barrier(t.Context(), c)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func exchangeOfAll(ctx context.Context, c *Comm, count, round int) error {
	got := make([][]int32, c.Size())
	var handles []*Handle
	stride := 1 + (c.Rank()+round)%(c.Size()-1) // the size is a prime number
	for i := 1; i < c.Size(); i++ {
		peer := (c.Rank() + i*stride) % c.Size()
		got[peer] = make([]int32, count)
		send := StartSend(ctx, c, slices.Repeat([]int32{int32(c.Rank())}, count), peer)
		receive := StartRecv(ctx, c, got[peer], peer)
		handles = append(handles, receive, send)
	}
	if (c.Rank()+round)%3 == 0 {
		<-handles[len(handles)-1].Done()
	}
	for _, h := range handles {
		if err := h.Wait(ctx); err != nil {
			return err
		}
	}
	for peer, data := range got {
		if data != nil && !slices.Equal(data, slices.Repeat([]int32{int32(peer)}, count)) {
			return fmt.Errorf("round %d: wrong data of rank %d", round, peer)
		}
	}
	return nil
}

// TestWait ends the waiting for a call before the call ends.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		defer leaveAll(all)
		h := StartBarrier(t.Context(), all[0])
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "goes on") {
			t.Errorf("the first waiting: %v", err)
		}
		if done, err := h.Test(); done || err != nil {
			t.Errorf("it is done: %v, %v", done, err)
		}
		if err := errors.Join(Barrier(t.Context(), all[1]), h.Wait(t.Context()), h.Err()); err != nil {
			t.Error(err)
		}
		checkHealthy(t, all)
	})
}

// TestOrder has a call that is not started wait for those before it, or for the end of its context.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		defer leaveAll(all)
		first := StartBarrier(t.Context(), all[0])
		received := []int64{0}
		second := StartRecv(t.Context(), all[0], received, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := AllReduce(ctx, all[0], []int64{1}, Sum)
		var timeout *TimeoutError
		var call *CallError
		if !errors.As(err, &timeout) || errors.As(err, &call) {
			t.Errorf("behind a call that does not end: %v", err)
		}
		sums := make([]int64, 2)
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			if c.Rank() == 1 {
				if err := errors.Join(Barrier(t.Context(), c), Send(t.Context(), c, []int64{7}, 0)); err != nil {
					return err
				}
			}
			sums[c.Rank()] = int64(c.Rank()) + 1
			return AllReduce(t.Context(), c, sums[c.Rank():][:1], Sum)
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		if !first.ended.Load() || !second.ended.Load() || received[0] != 7 || sums[0] != 3 || sums[1] != 3 {
			t.Errorf("received %v, sums %v", received, sums)
		}
	})
}

// TestLeftOut starts a call whose context ends before it begins: the others go on without it.
func TestLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		defer leaveAll(all)
		ctx, cancel := context.WithCancelCause(t.Context())
		first := StartBarrier(t.Context(), all[0])
		out := StartSend(ctx, all[0], []int64{1}, 1)
		in := StartRecv(t.Context(), all[0], []int64{1}, 1)
		if done, _ := in.Test(); done {
			t.Error("it is done")
		}
		synctest.Wait()
		cause := errors.New("no time")
		cancel(cause)
		err := errors.Join(Barrier(t.Context(), all[1]), Send(t.Context(), all[1], []int64{2}, 0), first.Wait(t.Context()),
			in.Wait(t.Context()))
		if err != nil {
			t.Error(err)
		}
		var call *CallError
		if err := out.Wait(t.Context()); !errors.Is(err, cause) || errors.As(err, &call) {
			t.Errorf("left out: %v", err)
		}
		checkHealthy(t, all)
	})
}

// TestJoinedContexts ends one of the contexts of calls that run together.
func TestJoinedContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 3)
		defer leaveAll(all)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		a := StartRecv(t.Context(), all[0], []int64{1}, 1)
		b := StartRecv(ctx, all[0], []int64{1}, 2)
		a.begin()
		synctest.Wait()
		cancel(cause)
		for peer, h := range map[int]*Handle{1: a, 2: b} {
			err := h.Wait(t.Context())
			var timeout *TimeoutError
			var call *CallError
			if !errors.Is(err, cause) || !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{1, 2}) ||
				!errors.As(err, &call) || call.Peer != peer || call.Op != "Recv" || call.Seq != 1 {
				t.Errorf("rank %d: %v", peer, err)
			}
		}
	})
}

// TestCloseEndsStarted closes a communicator on which calls run, wait, and were not begun.
func TestCloseEndsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		handles := []*Handle{StartBarrier(t.Context(), all[0]), StartBarrier(t.Context(), all[0]),
			StartRecv(t.Context(), all[0], []int64{1}, 1)}
		synctest.Wait()
		leaveAll(all)
		for i, h := range handles {
			if done, err := h.Test(); !done || !errors.Is(err, ErrClosed) {
				t.Errorf("call %d: %v, %v", i, done, err)
			}
		}
		if err := StartBarrier(t.Context(), all[0]).Err(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestStartFromManyGoroutines starts calls from several goroutines without any order between them, while the
// communicator is closed in the end: every handle comes to an end.
func TestStartFromManyGoroutines(t *testing.T) {
	all := comms(t, 1)
	var users sync.WaitGroup
	var refused, made, closed int
	var mu sync.Mutex
	for range 64 {
		users.Go(func() {
			for !all[0].closed.Load() {
				err := StartAllReduce(t.Context(), all[0], []int64{1}, Sum).Wait(t.Context())
				mu.Lock()
				switch {
				case err == nil:
					if made++; made == 300 {
						go func() { _ = all[0].Close() }()
					}
				case errors.Is(err, ErrConcurrentUse):
					refused++
				case errors.Is(err, ErrClosed):
					closed++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	users.Wait()
	t.Logf("%d calls made, %d refused, %d closed", made, refused, closed)
	leaveAll(all)
}

// TestOneRankStarts starts calls where there is no transport.
func TestOneRankStarts(t *testing.T) {
	ctx, c := t.Context(), newComm(0, 1, nil)
	x, y := []int64{3}, []int64{4}
	a := StartSendRecv(ctx, c, x, 0, y, 0)
	b := StartAllReduce(ctx, c, x, Avg)
	if err := errors.Join(a.Wait(ctx), b.Wait(ctx), c.Close()); err != nil || y[0] != 3 || x[0] != 3 {
		t.Errorf("%v: %v, %v", err, x, y)
	}
}

// TestTestLetsTheCallGoOn: on one processor, a rank that asks again and again whether its call is over does not keep
// the calls of the ranks from it. If it did, its turn would end by Go's clock alone, after a great many questions.
func TestTestLetsTheCallGoOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const most = 1000
	all := comms(t, 2)
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		h := StartAllReduce(t.Context(), c, []int64{1}, Sum)
		for range most {
			if done, err := h.Test(); done {
				return err
			}
		}
		return errors.Join(fmt.Errorf("not over after %d questions", most), h.Wait(t.Context()))
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestHandleAgain: whoever waits for a handle that is used again takes its token, also if the call is over just before
// there is one. The next call would have it for its own, and end before it is over.
func TestHandleAgain(t *testing.T) {
	h := &Handle{again: true, isCall: true, done: make(chan struct{}, 1), name: "AllReduce"}
	h.ended.Store(true) // as finish does, which has not sent the token yet
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Wait(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returns %v before there is a token", err)
	}
	h.done <- struct{}{}
	if err := h.Wait(t.Context()); err != nil || len(h.done) > 0 {
		t.Errorf("%v, and %d tokens are left", err, len(h.done))
	}
}

// TestBatch starts calls on two communicators: none begins before the end of the outer batch, then all do.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, a, b := t.Context(), comms(t, 2), comms(t, 2)
		defer leaveAll(append(a, b...))
		var handles []*Handle
		failure := errors.New("of the function")
		err := a[0].Batch(func() error {
			if err := a[0].Batch(func() error {
				handles = append(handles, StartBarrier(ctx, a[0]), StartSend(ctx, a[0], []int64{1}, 1), StartBarrier(ctx, b[0]))
				return nil
			}); err != nil {
				return err
			}
			synctest.Wait()
			if a[0].queue.Load().ready.first != nil || a[0].exec.Transport.Waiting() != nil {
				t.Error("calls began before the end")
			}
			handles = append(handles, StartAllReduce(ctx, a[0], []int64{1}, 0))
			return failure
		}, b[0])
		if err != failure || !errors.Is(handles[3].Err(), ErrInvalidArgument) {
			t.Errorf("got %v and %v", err, handles[3].Err())
		}
		if err := errors.Join(Barrier(ctx, a[1]), Barrier(ctx, b[1]), Recv(ctx, a[1], []int64{0}, 0)); err != nil {
			t.Error(err)
		}
		for i, h := range handles[:3] {
			if err := h.Wait(ctx); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
		checkHealthy(t, a)
		checkHealthy(t, b)
	})
}

// TestBatchBegins makes calls in a batch that cannot wait for its end.
func TestBatchBegins(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		return c.Batch(func() error {
			other, got := 1-c.Rank(), []int64{0}
			in, out := StartRecv(t.Context(), c, got, other), StartSend(t.Context(), c, []int64{5}, other)
			if err := errors.Join(in.Wait(t.Context()), out.Wait(t.Context())); err != nil || got[0] != 5 {
				return errors.Join(err, errors.New("wrong data"))
			}
			h := StartBarrier(t.Context(), c)
			return errors.Join(Barrier(t.Context(), c), h.Err())
		})
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestGroupFails: when calls that run together fail, the error of each is its own, be there calls of several messages
// before it.
func TestGroupFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 4)
		defer leaveAll(all)
		c := all[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := make([]int64, 1)
		var handles []*Handle
		if err := c.Batch(func() error {
			handles = []*Handle{StartSendRecv(ctx, c, x, 1, make([]int64, 1), 1), StartRecv(ctx, c, make([]int64, 1), 2),
				StartSendRecv(ctx, c, x, 3, make([]int64, 1), 3), StartRecv(ctx, c, make([]int64, 1), 3)}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []CallError{{Op: "SendRecv", Peer: 1}, {Op: "Recv", Peer: 2}, {Op: "SendRecv", Peer: 3},
			{Op: "Recv", Peer: 3}} {
			var got *CallError
			if err := handles[i].Wait(t.Context()); !errors.As(err, &got) || got.Op != want.Op || got.Peer != want.Peer {
				t.Errorf("call %d, %s with rank %d: %v", i, want.Op, want.Peer, err)
			}
		}
	})
}

// TestStartedAfterDrained: a call that is started after another one had to wait for those before it is a started call:
// who is in it computes, and other ranks that need it elsewhere wait.
func TestStartedAfterDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		defer leaveAll(all)
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			h := StartBarrier(t.Context(), c)
			if c.Rank() == 1 {
				time.Sleep(time.Second)
			}
			if err := errors.Join(Barrier(t.Context(), c), h.Wait(t.Context())); err != nil {
				return err
			}
			x := []int64{1}
			if c.Rank() == 1 {
				_, err := c.Agree(t.Context(), 1)
				return errors.Join(err, AllReduce(t.Context(), c, x, Sum))
			}
			h = StartAllReduce(t.Context(), c, x, Sum)
			time.Sleep(time.Minute)
			_, err := c.Agree(t.Context(), 1)
			return errors.Join(err, h.Wait(t.Context()))
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

// TestJoinedIsLetGo: a group's context ends with that of each of its calls, and nothing of it stays with them
// afterwards.
func TestJoinedIsLetGo(t *testing.T) {
	for end := range 3 {
		var group []*Handle
		var all []*outlasting
		for range 3 {
			x := &outlasting{Context: context.Background(), done: make(chan struct{}), waiting: map[int]func(){}}
			all, group = append(all, x), append(group, &Handle{ctx: x})
		}
		ctx, stop := joined(group)
		all[end].end()
		if <-ctx.Done(); ctx.Err() == nil {
			t.Errorf("context %d has ended, and not the group's", end)
		}
		stop()
		for i, x := range all {
			x.mu.Lock()
			waiting := len(x.waiting)
			x.mu.Unlock()
			if i != end && waiting > 0 {
				t.Errorf("when context %d has ended, %d still wait for context %d", end, len(x.waiting), i)
			}
		}
	}
}

// outlasting is a context that counts those who wait for its end.
type outlasting struct {
	context.Context
	done    chan struct{}
	mu      sync.Mutex
	last    int
	waiting map[int]func()
}

func (x *outlasting) Done() <-chan struct{} { return x.done }

func (x *outlasting) Err() error {
	select {
	case <-x.done:
		return context.Canceled
	default:
		return nil
	}
}

// AfterFunc returns what context.AfterFunc asks for.
func (x *outlasting) AfterFunc(f func()) (stop func() bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last++
	n := x.last
	x.waiting[n] = f
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		_, waits := x.waiting[n]
		delete(x.waiting, n)
		return waits
	}
}

func (x *outlasting) end() {
	close(x.done)
	x.mu.Lock()
	waiting := slices.Collect(maps.Values(x.waiting))
	x.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

func TestBatchRefuses(t *testing.T) {
	c := newComm(0, 1, nil)
	defer c.Close()
	nothing := func() error { return nil }
	for name, err := range map[string]error{
		"no communicator":       (*Comm)(nil).Batch(nothing),
		"no other communicator": c.Batch(nothing, new(Comm)),
		"no function":           c.Batch(nil),
	} {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
