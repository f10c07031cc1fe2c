package tcp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

func named(seq uint64, name string, root uint32) *wire.Call {
	c := &wire.Call{Seq: seq, Primitive: 1, Root: root, PrimitiveName: wire.NewLabel(name)}
	for _, b := range name {
		c.Primitive = c.Primitive*31 + uint64(b)
	}
	return c
}

// TestCallsWithoutMessages: a rank waits for another one in a call in which that had nothing to send, and which it left
// long ago; the call itself is compared, and not the one that the other rank is in.
func TestCallsWithoutMessages(t *testing.T) {
	for _, further := range []int{1, linkproto.HistorySize - 1, 5 * linkproto.HistorySize} {
		all := worlds["plain"].group(t, 2)
		result := make(chan error)
		go func() {
			all[1].Begin(wire.NewMark(named(1, "Broadcast", 0)))
			result <- receive(all[1], 0, make([]byte, 1))
		}()
		empty := named(1, "Broadcast", 0)
		empty.Count = 7
		for i := range further {
			all[0].Begin(wire.NewMark(empty))
			empty = named(uint64(i)+2, "Scatter", 0)
		}
		err := receive(all[0], 1, make([]byte, 1))
		for rank, err := range []error{err, <-result} {
			var m *wire.MismatchError
			if !errors.As(err, &m) || m.Rank != 1-rank || further < linkproto.HistorySize && (m.Field != "count" || m.Seq != 1) {
				t.Errorf("%d calls, rank %d: %v", further, rank, err)
			}
		}
	}
}

// TestThirdRank has two of three ranks disagree, while one of them waits for the third one too.
func TestThirdRank(t *testing.T) {
	all := worlds["plain"].group(t, 3)
	result := make(chan error)
	go func() {
		all[1].Begin(wire.NewMark(named(4, "Send", 1)))
		result <- receive(all[1], 0, make([]byte, 1))
	}()
	all[0].Begin(wire.NewMark(named(1, "Gather", 0)))
	err := all[0].Exchange(context.Background(), nil, []wire.Recv{{Peer: 1, Into: make([]byte, 1)}, {Peer: 2}})
	for rank, err := range []error{err, <-result} {
		var m *wire.MismatchError
		if !errors.As(err, &m) || m.Rank != 1-rank || m.Field != "primitive" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestOthersLeave: a rank that waits for one rank does not mind that another one, which it has a link with, has closed.
func TestOthersLeave(t *testing.T) {
	all := worlds["IPv6"].group(t, 3)
	done := make(chan error)
	go func() { done <- receive(all[0], 2, make([]byte, 1)) }()
	for len(all[0].Waiting()) == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = all[1].Close()
	time.Sleep(3 * linkbase.MaxSleep)
	if err := errors.Join(send(all[2], 0, []byte{1}), <-done); err != nil {
		t.Error(err)
	}
	wantPeer(t, receive(all[0], 1, nil), 1, wire.ErrClosed)
}

// TestSlowRanks take far longer than it takes the others to wonder, in several calls: nobody takes that for a
// disagreement.
func TestSlowRanks(t *testing.T) {
	all := worlds["short buffers"].group(t, 2)
	done := make(chan error)
	step := func(e *Endpoint) error {
		data := make([]byte, 1<<20)
		for i := range 6 {
			e.Begin(wire.NewMark(named(uint64(i), "AllReduce", 0)))
			if e.Rank == i%2 {
				time.Sleep(3 * linkbase.StallTime)
			}
			err := e.Exchange(context.Background(), []wire.Send{{Peer: 1 - e.Rank, Data: data}},
				[]wire.Recv{{Peer: 1 - e.Rank, Into: make([]byte, len(data))}})
			if err != nil {
				return err
			}
		}
		return nil
	}
	go func() { done <- step(all[1]) }()
	if err := errors.Join(step(all[0]), <-done); err != nil {
		t.Error(err)
	}
}

// TestRefusedMeanwhile has a rank wait for another one than the one that refuses what it has sent before.
func TestRefusedMeanwhile(t *testing.T) {
	all := worlds["plain"].group(t, 3)
	if err := send(all[0], 2, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() { result <- receive(all[0], 1, make([]byte, 1)) }()
	errs := [3]error{2: receive(all[2], 0, make([]byte, 4))}
	select {
	case errs[0] = <-result:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits on")
	}
	for _, rank := range []int{0, 2} {
		var m *wire.MismatchError
		if !errors.As(errs[rank], &m) || m.Rank != 2-rank || m.Field != "message length" {
			t.Errorf("rank %d: %v", rank, errs[rank])
		}
	}
}
