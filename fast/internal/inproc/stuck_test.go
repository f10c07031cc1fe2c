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

// TestStuck has ranks wait for each other in different calls, without a message that they could compare. A rank of which
// nothing is said here closes at once.
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
		{"two of four", map[int]step{0: {0, nil, []int{1}}, 1: {0, nil, []int{2}}, 2: {2, nil, []int{3}}, 3: {2, nil, []int{0}}}, map[int]string{
			0: "rank 1: communicator was aborted", 1: "call 1 does not match rank 2's: root is 0 here and 2 there",
			2: "rank 1: communicator was aborted", 3: "call 1 does not match rank 0's: root is 2 here and 0 there"}},
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
					e.Begin(&wire.Call{Seq: 1, Root: s.root})
					err := e.Exchange(context.Background(), sendsTo(s.to), recvsFrom(s.from))
					time.Sleep(time.Duration(rank) * time.Second) // of two ranks that fail, the lower one gives up first
					e.Abort()
					return err
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
			e.Begin(&wire.Call{Seq: 1})
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
			e.Begin(&wire.Call{Seq: 1, Root: uint32(rank)})
			err := e.Exchange(ctx, nil, recvsFrom([]int{(rank + 1) % 3}))
			e.Abort()
			return err
		}) {
			var mismatch *wire.MismatchError
			if !errors.As(err, &mismatch) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, wire.ErrAborted) {
				t.Fatal(fmt.Errorf("rank %d: %w", rank, err))
			}
		}
	}
}
