package fast

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestSendRecv has ranks pass data on in a ring, each in one call, and to themselves where they are alone.
func TestSendRecv(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		all := comms(size)
		for rank, err := range onAll(all, func(c *Comm) error {
			for _, count := range []int{0, 1, 1000} {
				if err := passOn(t.Context(), c, count); err != nil {
					return errors.Join(err, c.Close()) // the others do not wait for this rank
				}
			}
			return Barrier(t.Context(), c)
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
		leaveAll(all)
	}
}

// passOn passes this rank's number on to the next one, then back again in place, and on once more as a started call.
func passOn(ctx context.Context, c *Comm, count int) error {
	next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	mine, theirs := slices.Repeat([]int64{int64(c.Rank())}, count), slices.Repeat([]int64{int64(previous)}, count)
	got := make([]int64, count)
	if err := SendRecv(ctx, c, mine, next, got, previous); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on"))
	}
	if err := SendRecvReplace(ctx, c, got, previous, next); err != nil || !slices.Equal(got, mine) {
		return errors.Join(err, errors.New("not back"))
	}
	if err := StartSendRecvReplace(ctx, c, got, next, previous).Wait(ctx); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on in place, as a started call"))
	}
	clear(got)
	if err := StartSendRecv(ctx, c, mine, next, got, previous).Wait(ctx); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on as a started call"))
	}
	return nil
}

// TestSendRecvMeetsOthers has one rank do both at once, and the others one after the other; lengths differ, and one way
// there is nothing.
func TestSendRecvMeetsOthers(t *testing.T) {
	all := comms(3)
	for rank, err := range onAll(all, func(c *Comm) error {
		ctx := t.Context()
		switch c.Rank() {
		case 0:
			got := make([]int32, 2)
			err := SendRecv(ctx, c, []int32{1, 2, 3}, 1, got, 2)
			if got[1] != 5 {
				t.Errorf("got %v", got)
			}
			return errors.Join(err, SendRecv(ctx, c, []int32{9}, 1, nil, 1))
		case 1:
			got, last := make([]int32, 3), make([]int32, 1)
			err := errors.Join(Recv(ctx, c, got, 0), StartRecv(ctx, c, last, 0).Wait(ctx), Send(ctx, c, []int32{}, 0))
			if got[2] != 3 || last[0] != 9 {
				t.Errorf("got %v and %v", got, last)
			}
			return err
		}
		return Send(ctx, c, []int32{4, 5}, 0)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	checkHealthy(t, all)
	leaveAll(all)
}

func TestSendRecvRefuses(t *testing.T) {
	ctx, all := t.Context(), comms(2)
	c, x := all[0], make([]int32, 8)
	for name, err := range map[string]error{
		"no communicator":       SendRecv(ctx, nil, x, 1, x, 1),
		"nobody to send to":     SendRecv(ctx, c, x[:4], 2, x[4:], 1),
		"nobody to hear from":   SendRecv(ctx, c, x[:4], 1, x[4:], -1),
		"itself one way":        SendRecv(ctx, c, x[:4], 0, x[4:], 1),
		"another length":        SendRecv(ctx, c, x[:3], 0, x[4:], 0),
		"memory that overlaps":  SendRecv(ctx, c, x[:4], 1, x[2:6], 1),
		"the very same memory":  SendRecv(ctx, c, x[:4], 1, x[:4], 1),
		"and sent to itself":    SendRecv(ctx, c, x[:4], 0, x[:4], 0),
		"lengths that overlap":  SendRecv(ctx, c, x[:4], 1, x[:5], 1),
		"in place, to somebody": SendRecvReplace(ctx, c, x, 2, 1),
	} {
		if !errors.Is(err, ErrInvalidArgument) || !strings.HasPrefix(err.Error(), "SendRecv: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := SendRecv(ended, c, x[:4], 1, x[4:], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	checkHealthy(t, all)
}

// TestSendRecvMismatch has a message be longer than expected: both ranks learn of it.
func TestSendRecvMismatch(t *testing.T) {
	all := comms(2)
	for rank, err := range onAll(all, func(c *Comm) error {
		return SendRecv(t.Context(), c, make([]int32, 3+c.Rank()), 1-c.Rank(), make([]int32, 3), 1-c.Rank())
	}) {
		var mismatch *MismatchError
		var call *CallError
		if !errors.As(err, &mismatch) || mismatch.Field != "count" || !errors.As(err, &call) ||
			call.Op != "SendRecv" || call.Peer != 1-rank {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestSendRecvAllocates nothing when it is called again, and a communicator that has started calls makes others as
// before.
func TestSendRecvAllocates(t *testing.T) {
	const runs = 50
	all := comms(2)
	defer leaveAll(all)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := func(c *Comm) func() {
		out, in := make([]float32, 100), make([]float32, 100)
		if err := StartAllReduce(ctx, c, out, Sum).Wait(ctx); err != nil {
			t.Error(err)
		}
		return func() {
			other := 1 - c.Rank()
			err := errors.Join(SendRecv(ctx, c, out, other, in, other), SendRecvReplace(ctx, c, out, other, other),
				AllReduce(ctx, c, in, Sum))
			if err != nil {
				t.Error(err)
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f := once(all[1])
		for range countedCalls(runs) {
			f()
		}
	}()
	if n := allocations(runs, once(all[0])); n != 0 {
		t.Errorf("%v allocations", n)
	}
	<-done
}
