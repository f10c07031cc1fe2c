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

// TestStuck has ranks wait for each other in different calls, without a message that they could compare. A rank of
// which nothing is said here closes at once.
func TestStuck(t *testing.T) {
	type step struct {
		root     uint32
		to, from []int
	}
	for _, test := range []struct {
		name  string
		steps map[int]step
		want  map[int]string // what each rank says
	}{
		{"both send", map[int]step{0: {0, []int{1}, nil}, 1: {1, []int{0}, nil}}, map[int]string{
			0: "call 1 does not match rank 1's: root is 0 here and 1 there",
			1: "call 1 does not match rank 0's: root is 1 here and 0 there"}},
		{"both receive", map[int]step{0: {0, nil, []int{1}}, 1: {1, nil, []int{0}}}, map[int]string{
			0: "call 1 does not match rank 1's: root is 0 here and 1 there",
			1: "call 1 does not match rank 0's: root is 1 here and 0 there"}},
		{"two of four", map[int]step{0: {0, nil, []int{1}}, 1: {0, nil, []int{2}}, 2: {2, nil, []int{3}},
			3: {2, nil, []int{0}}}, map[int]string{
			0: "rank 1: communicator is closed", 1: "call 1 does not match rank 2's: root is 0 here and 2 there",
			2: "rank 3: communicator is closed", 3: "call 1 does not match rank 0's: root is 2 here and 0 there"}},
		{"with a closed rank", map[int]step{0: {0, []int{2}, nil}, 2: {1, []int{0}, nil}}, map[int]string{
			0: "call 1 does not match rank 2's: root is 0 here and 1 there",
			2: "call 1 does not match rank 0's: root is 1 here and 0 there"}},
		{"an algorithm with a deadlock", map[int]step{0: {0, nil, []int{1}}, 1: {0, nil, []int{0}}}, map[int]string{
			0: errStuck.Error(), 1: errStuck.Error()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for rank, err := range together(4, func(rank int, e *Endpoint) error {
					s, ok := test.steps[rank]
					if !ok {
						return e.Close()
					}
					e.Begin(wire.NewMark(&wire.Call{Seq: 1, Root: s.root}))
					err := e.Exchange(context.Background(), sendsTo(s.to), recvsFrom(s.from))
					time.Sleep(time.Second) // until all have failed that are told of it
					return errors.Join(err, e.Close())
				}) {
					if want := test.want[rank]; want != "" && (err == nil || err.Error() != want) {
						t.Errorf("rank %d: %v, want %s", rank, err, want)
					}
				}
			})
		})
	}
}

func sendsTo(ranks []int) []wire.Send {
	var sends []wire.Send
	for _, rank := range ranks {
		sends = append(sends, wire.Send{Peer: rank})
	}
	return sends
}

func recvsFrom(ranks []int) []wire.Recv {
	var recvs []wire.Recv
	for _, rank := range ranks {
		recvs = append(recvs, wire.Recv{Peer: rank})
	}
	return recvs
}

// TestNotStuck has all ranks but one asleep for a long time: the one that is late still comes.
func TestNotStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mustAll(t, together(3, func(rank int, e *Endpoint) error {
			if rank == 2 {
				time.Sleep(time.Hour)
			}
			e.Begin(wire.NewMark(&wire.Call{Seq: 1}))
			sends, recvs := sendsTo([]int{(rank + 1) % 3}), recvsFrom([]int{(rank + 2) % 3})
			return e.Exchange(context.Background(), sends, recvs)
		}))
	})
}

// TestStuckWithTimeouts has contexts end just when all ranks have fallen asleep.
func TestStuckWithTimeouts(t *testing.T) {
	for i := range 200 {
		for rank, err := range together(3, func(rank int, e *Endpoint) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%20*rank)*time.Microsecond)
			defer cancel()
			e.Begin(wire.NewMark(&wire.Call{Seq: 1, Root: uint32(rank)}))
			return e.Exchange(ctx, nil, recvsFrom([]int{(rank + 1) % 3}))
		}) {
			var mismatch *wire.MismatchError
			if !errors.As(err, &mismatch) && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(fmt.Errorf("rank %d: %w", rank, err))
			}
		}
	}
}

// TestStuckOnClosed has a rank close just when the other one, which waits for it, falls asleep: that is no
// disagreement.
func TestStuckOnClosed(t *testing.T) {
	for range 2000 {
		errs := together(2, func(rank int, e *Endpoint) error {
			e.Begin(wire.NewMark(&wire.Call{Seq: 1, Root: uint32(rank)}))
			if rank == 0 {
				return e.Close()
			}
			return e.Exchange(context.Background(), nil, recvsFrom([]int{0}))
		})
		wantPeer(t, errs[1], 0, wire.ErrClosed)
	}
}

// TestJudge leaves alone the ranks of which one waits for a rank that has closed.
func TestJudge(t *testing.T) {
	ends := New(2)
	for rank, e := range ends {
		e.Begin(wire.NewMark(&wire.Call{Seq: 1, Root: uint32(rank)}))
	}
	if err := ends[1].list(nil, recvsFrom([]int{0})); err != nil {
		t.Fatal(err)
	}
	_ = ends[0].Close()
	if judge(ends[1:]); ends[1].verdict != nil {
		t.Error(ends[1].verdict)
	}
}
