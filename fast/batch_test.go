package fast

import (
	"errors"
	"testing"
	"testing/synctest"
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
			if a[0].queue.Load().ready.first != nil || a[0].transport.Waiting() != nil {
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
