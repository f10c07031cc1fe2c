package linkbase

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

func newEndpoint(rank, size int) *Endpoint {
	e := new(Endpoint)
	all := make([]*Link, size)
	for i := range all {
		all[i] = new(Link)
	}
	e.Init(rank, all, Hooks{})
	return e
}

// finish has all messages of the Exchange be complete but those to and from the given ranks.
func (e *Endpoint) finish(but ...int) {
	for i := 0; i < len(e.Active); i = e.next(i) {
		l := e.links[e.Active[i]]
		if slices.Contains(but, l.Peer) {
			continue
		}
		for l.Sending() != nil {
			e.CompleteSend(l)
		}
		for l.Receiving() != nil {
			e.CompleteReceive(l)
		}
	}
}

// TestMessages are in turn in order, each way, and counted; who has none left is not active.
func TestMessages(t *testing.T) {
	e := newEndpoint(1, 4)
	sends := []wire.Send{{Peer: 3}, {Peer: 0}, {Peer: 3}}
	recvs := []wire.Recv{{Peer: 0}, {Peer: 2}, {Peer: 2}}
	for range 2 {
		if err := e.post(sends, recvs); err != nil || e.Open != 6 || !slices.Equal(e.Active, []int{3, 0, 2}) {
			t.Fatalf("%v: %d messages to and from %v", err, e.Open, e.Active)
		}
		l := e.links[3]
		if l.Sending().Send != &sends[0] || l.Receiving() != nil || e.links[2].Sending() != nil ||
			!e.links[0].ReceivesLast() || e.links[2].ReceivesLast() {
			t.Error("it is not the first message's turn")
		}
		if e.CompleteSend(l); l.Sending().Send != &sends[2] {
			t.Error("it is not the second message's turn")
		}
		if e.finish(2); e.Open != 2 || !slices.Equal(e.Active, []int{2}) {
			t.Errorf("%d messages to and from %v are left", e.Open, e.Active)
		}
		e.finish()
		if e.clear(); e.Open != 0 || len(e.Peers)+len(e.Active)+len(e.Waiting()) != 0 || l.Sending() != nil {
			t.Errorf("after the Exchange: %+v", e)
		}
	}
	if e.links[3].Sent != 4 || e.links[0].Sent != 2 || e.links[0].Received != 2 || e.links[2].Received != 4 {
		t.Error("messages are not counted")
	}
}

// TestListRefuses messages to ranks that there are not, and all after a doom.
func TestListRefuses(t *testing.T) {
	for _, peer := range []int{-1, 1, 4} {
		e := newEndpoint(1, 4)
		if e.post([]wire.Send{{Peer: peer}}, nil) == nil || e.post(nil, []wire.Recv{{Peer: peer}}) == nil {
			t.Errorf("a message between ranks 1 and %d of 4", peer)
		}
	}
	e, doom := newEndpoint(1, 4), errors.New("doom")
	e.End.Break(doom)
	if err := e.post(nil, nil); err != doom {
		t.Error(err)
	}
}

// TestAfterSend: a receive is paired with the send of the same memory to the same rank, if it is marked.
func TestAfterSend(t *testing.T) {
	e, a, b := newEndpoint(0, 3), make([]byte, 8), make([]byte, 8)
	err := e.post([]wire.Send{{Peer: 2, Data: a}, {Peer: 1, Data: b}, {Peer: 1, Data: a}, {Peer: 1}},
		[]wire.Recv{{Peer: 1, Into: a, AfterSend: true}, {Peer: 1, Into: a}, {Peer: 2, Into: b, AfterSend: true},
			{Peer: 1, AfterSend: true}})
	one, two := e.links[1], e.links[2]
	if err != nil || one.recvs[0].After != &one.sends[1] || one.recvs[1].After != nil || two.recvs[0].After != nil ||
		one.recvs[2].After != nil {
		t.Errorf("%v: %+v, %+v", err, one.recvs, two.recvs)
	}
}

// TestFailure: the end of a context names the ranks that are left, and so does Waiting after the Exchange; other
// reasons come first.
func TestFailure(t *testing.T) {
	e := newEndpoint(0, 4)
	if err := e.post([]wire.Send{{Peer: 3}, {Peer: 1}, {Peer: 2}}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := e.failure(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	e.finish(3, 1)
	var timeout *wire.TimeoutError
	if err := e.failure(ctx); !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{1, 3}) {
		t.Error(err)
	}
	doom := errors.New("doom")
	if e.End.Break(doom); e.failure(ctx) != doom {
		t.Error(e.failure(ctx))
	}
	if e.clear(); !slices.Equal(e.Waiting(), []int{1, 3}) {
		t.Errorf("after the Exchange it waits for %v", e.Waiting())
	}
}
