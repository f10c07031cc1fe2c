package fast

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBatch starts calls on two communicators: none begins before the end of the outer batch, then all do.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, a, b := t.Context(), comms(2), comms(2)
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
	all := comms(2)
	defer leaveAll(all)
	for rank, err := range onAll(all, func(c *Comm) error {
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
		all := comms(4)
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
		for i, want := range []CallError{{Op: "SendRecv", Peer: 1}, {Op: "Recv", Peer: 2}, {Op: "SendRecv", Peer: 3}, {Op: "Recv", Peer: 3}} {
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
		all := comms(2)
		defer leaveAll(all)
		for rank, err := range onAll(all, func(c *Comm) error {
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
			if i != end && len(x.waiting) > 0 {
				t.Errorf("when context %d has ended, %d still wait for context %d", end, len(x.waiting), i)
			}
		}
	}
}

// outlasting is a context that counts those who wait for its end.
type outlasting struct {
	context.Context
	done    chan struct{}
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
	x.last++
	n := x.last
	x.waiting[n] = f
	return func() bool {
		_, waits := x.waiting[n]
		delete(x.waiting, n)
		return waits
	}
}

func (x *outlasting) end() {
	close(x.done)
	for _, f := range x.waiting {
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
