//go:build linux

package shm

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestTransport tests what all transports keep.
func TestTransport(t *testing.T) {
	exchangetest.Run(t, transports)
}

// TestTellEach tests what not all can.
func TestTellEach(t *testing.T) { exchangetest.RunTellEach(t, transports) }

func transports(t *testing.T, size int) (all []exchangetest.Transport) {
	if size < 2 {
		t.Skip("memory is shared by two or more")
	}
	for _, e := range group(t, size) {
		all = append(all, e)
	}
	return all
}

// TestAfterSendOfAnotherLength is refused.
func TestAfterSendOfAnotherLength(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	recvs := []wire.Recv{{Peer: 1, Into: []byte{1, 2}, AfterSend: true}}
	if all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{1}}}, recvs) == nil {
		t.Error("it is accepted")
	}
}

// fillRing has rank 0 send rank to as many messages as it does not need to take.
func fillRing(t *testing.T, all []*Endpoint, to int) {
	t.Helper()
	for range depth {
		if err := send(all[0], to); err != nil {
			t.Fatal(err)
		}
	}
}

// emptyRing has rank to take them, once rank 0 waits for it.
func emptyRing(t *testing.T, all []*Endpoint, to int) {
	t.Helper()
	for !slices.Equal(all[0].Waiting(), []int{to}) {
		time.Sleep(time.Millisecond)
	}
	for range depth {
		if err := recv(all[to], 0); err != nil {
			t.Error(err)
		}
	}
}

// TestAfterSendWaits: a message that has come does not overwrite one that cannot be sent yet.
func TestAfterSendWaits(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	fillRing(t, all, 1)
	mine, theirs := bytes.Repeat([]byte{1}, 1000), bytes.Repeat([]byte{2}, 1000)
	if err := all[1].Exchange(t.Context(), []wire.Send{{Peer: 0, Data: theirs}}, nil); err != nil {
		t.Fatal(err)
	}
	data, done := bytes.Clone(mine), make(chan error)
	go func() {
		done <- all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: data}},
			[]wire.Recv{{Peer: 1, Into: data, AfterSend: true}})
	}()
	emptyRing(t, all, 1)
	got := make([]byte, 1000)
	if err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}}); err != nil || !bytes.Equal(got, mine) {
		t.Errorf("%v, %d instead of %d", err, got[0], mine[0])
	}
	if err := <-done; err != nil || !bytes.Equal(data, theirs) {
		t.Errorf("%v, %d instead of %d", err, data[0], theirs[0])
	}
}

// TestMulticastIsUsedAgain while a rank is late: it gets the very messages that the other one got long before.
func TestMulticastIsUsedAgain(t *testing.T) {
	all := group(t, 3)
	defer closeGroup(all)
	fillRing(t, all, 2)
	var sends []wire.Send
	for i := range byte(2*slots + multicastSlots) {
		data := bytes.Repeat([]byte{i}, 1000)
		sends = append(sends, wire.Send{Peer: 1, Data: data}, wire.Send{Peer: 2, Data: data})
	}
	done := make(chan error)
	go func() { done <- all[0].Exchange(t.Context(), sends, nil) }()
	for _, rank := range []int{1, 2} {
		if rank == 2 {
			emptyRing(t, all, 2)
		}
		for i := range byte(2*slots + multicastSlots) {
			got := make([]byte, 1000)
			if err := all[rank].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}}); err != nil || got[0] != i ||
				got[999] != i {
				t.Errorf("rank %d gets %d instead of %d (%v)", rank, got[0], i, err)
			}
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestMulticastForOne: among many ranks, long messages to single ranks lie in multicast slots; when these are full
// because their receivers are late, another rank gets its own through small slots.
func TestMulticastForOne(t *testing.T) {
	const size = few + 2
	rings, n, slot := fullSlots(size)
	if rings != 0 || n != few*slots {
		t.Fatalf("%d slots in rings, %d in multicasts", rings, n)
	}
	all := group(t, size)
	defer closeGroup(all)
	data := func(rank int) []byte { return bytes.Repeat([]byte{byte(rank)}, slots*slot) }
	var sends []wire.Send
	for rank := 1; rank <= few; rank++ {
		sends = append(sends, wire.Send{Peer: rank, Data: data(rank)})
	}
	if err := all[0].Exchange(t.Context(), sends, nil); err != nil {
		t.Fatal(err)
	}
	last := []wire.Send{{Peer: few + 1, Data: data(few + 1)[:slots*small]}}
	if err := all[0].Exchange(t.Context(), last, nil); err != nil {
		t.Fatal(err)
	}
	for rank := 1; rank < size; rank++ {
		want, first := data(rank), uint32(inFullMulticast)
		if rank > few {
			want, first = want[:slots*small], inSmall
		}
		if where := all[rank].links[0].in.head.lines[0].where; where < first || where >= first+maxMulticastSlots ||
			rank > few && where != first {
			t.Errorf("rank %d: its message lies at %d", rank, where)
		}
		got := make([]byte, len(want))
		if err := all[rank].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}}); err != nil ||
			!bytes.Equal(got, want) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
