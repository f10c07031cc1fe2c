package inproc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// sendOf returns the n-th point-to-point call from one rank to another.
func sendOf(from, to int, n, count uint64) *wire.Call {
	return &wire.Call{Seq: n, Primitive: 2, Count: count, Root: uint32(from), Peer: uint32(to) + 1,
		PrimitiveName: wire.NewLabel("Send")}
}

// TestCalls has messages of several calls in one Exchange, in which the other rank has them one by one.
func TestCalls(t *testing.T) {
	mustAll(t, together(2, func(rank int, e *Endpoint) error {
		ctx, got := context.Background(), make([]byte, 3)
		if rank == 0 {
			e.Begin(wire.NewMark(sendOf(0, 1, 7, 9)))
			return e.Exchange(ctx, []wire.Send{
				{Peer: 1, Data: []byte{1}, Call: sendOf(0, 1, 1, 1)}, {Peer: 1, Data: []byte{2}, Call: sendOf(0, 1, 2, 1)},
			}, []wire.Recv{{Peer: 1, Into: got, Call: sendOf(1, 0, 1, 3)}})
		}
		for n := range uint64(2) {
			e.Begin(wire.NewMark(sendOf(0, 1, n+1, 1)))
			if err := e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: got[:1]}}); err != nil || got[0] != byte(n+1) {
				return errors.Join(errors.New("the wrong message"), err)
			}
		}
		return e.Exchange(ctx, []wire.Send{{Peer: 0, Data: got, Call: sendOf(1, 0, 1, 3)}}, nil)
	}))
}

// TestCallsMismatch has the second of two messages differ, in a field, and in the direction that it goes.
func TestCallsMismatch(t *testing.T) {
	for name, test := range map[string]struct {
		second part
		want   [2]string
	}{
		"count": {part{recv: sendOf(0, 1, 2, 5)}, [2]string{
			"call 2 does not match rank 1's: count is 1 here and 5 there",
			"call 2 does not match rank 0's: count is 5 here and 1 there"}},
		"both send": {part{send: sendOf(1, 0, 1, 5)}, [2]string{
			"ranks wait for each other: rank 0 sends to rank 1, which sends to rank 0",
			"ranks wait for each other: rank 1 sends to rank 0, which sends to rank 1"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			errs := together(2, func(rank int, e *Endpoint) error {
				if rank == 0 {
					return part{send: sendOf(0, 1, 2, 1)}.after(e, part{send: sendOf(0, 1, 1, 1)})
				}
				return test.second.after(e, part{recv: sendOf(0, 1, 1, 1)})
			})
			var got [2]string
			for rank, err := range errs {
				got[rank] = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// part is a message of one byte between the two ranks.
type part struct{ send, recv *wire.Call }

// after exchanges p and the one before it at once.
func (p part) after(e *Endpoint, before part) error {
	var sends []wire.Send
	var recvs []wire.Recv
	for _, p := range []part{before, p} {
		if p.send != nil {
			sends = append(sends, wire.Send{Peer: 1 - e.rank, Data: []byte{1}, Call: p.send})
		}
		if p.recv != nil {
			recvs = append(recvs, wire.Recv{Peer: 1 - e.rank, Into: make([]byte, 1), Call: p.recv})
		}
	}
	return e.Exchange(context.Background(), sends, recvs)
}
