package rdma_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// watched is a device that knows how often it was polled patiently.
type watched struct {
	*fabric.Domain
	patient atomic.Int32
}

func (w *watched) Poll(into []rdma.Completion, patient bool) (int, error) {
	if patient {
		w.patient.Add(1)
	}
	return w.Domain.Poll(into, patient)
}

// TestPatience: a rank that has something to write does not look at its queue for long before that; one that waits
// does.
func TestPatience(t *testing.T) {
	f := fabric.New(fabric.Options{Seed: 1, Lazy: 100})
	devices := []*watched{{Domain: f.Domain("one")}, {Domain: f.Domain("two")}}
	ends := make([]*rdma.Endpoint, 2)
	for rank := range ends {
		ends[rank] = rdma.New(rank, 2, []rdma.Domain{devices[rank]},
			func(peer int, card []byte) { ends[peer].ReceiveCard(rank, card) })
		defer func() { _ = ends[rank].Close() }()
	}
	received := make(chan error)
	receive := func() {
		received <- ends[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}})
	}
	for round := range 3 {
		before := devices[0].patient.Load()
		go receive()
		if err := ends[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{1}}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-received; err != nil {
			t.Fatal(err)
		}
		if n := devices[0].patient.Load() - before; n > 0 && round > 0 { // the first one waits for the link
			t.Errorf("round %d: the one that writes has been patient %d times", round, n)
		}
	}
	if devices[1].patient.Load() == 0 {
		t.Error("the one that waits was not patient")
	}
}

// late is a device that does not say that its writes are over, until it is told to.
type late struct {
	*fabric.Domain
	mu   sync.Mutex
	says bool
	kept []rdma.Completion
}

func (l *late) Poll(into []rdma.Completion, patient bool) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.says && len(l.kept) > 0 {
		n := copy(into, l.kept)
		l.kept = l.kept[n:]
		return n, nil
	}
	n, err := l.Domain.Poll(into, patient)
	told := into[:0]
	for _, c := range into[:max(n, 0)] {
		if l.says || c.Received {
			told = append(told, c)
		} else {
			l.kept = append(l.kept, c)
		}
	}
	return len(told), err
}

func (l *late) say() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.says = true
}

// TestLateCompletion: a rank whose message has arrived, and that only waits for its own device to say so, waits for
// nobody. The other rank is done with that message, which belongs to a call of its own, and is stuck in the next call
// until this one comes to it.
func TestLateCompletion(t *testing.T) {
	f := fabric.New(fabric.Options{Seed: 1})
	device := &late{Domain: f.Domain("one")}
	domains := []rdma.Domain{device, f.Domain("two")}
	ends := make([]*rdma.Endpoint, 2)
	for rank := range ends {
		ends[rank] = rdma.New(rank, 2, domains[rank:rank+1],
			func(peer int, card []byte) { ends[peer].ReceiveCard(rank, card) })
		defer func() { _ = ends[rank].Close() }()
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	own := &wire.Call{Seq: 1, Primitive: 5, Root: 0, Peer: 2}
	next := wire.NewMark(&wire.Call{Seq: 1, Primitive: 7})
	const n = 2 * rdma.LongBytes
	data, into, more, back := pattern(n, 1), make([]byte, n), pattern(n, 2), make([]byte, n)
	ends[0].Know(data)
	ends[1].Know(into)
	var ranks sync.WaitGroup
	ranks.Go(func() {
		if err := ends[0].Exchange(ctx, []wire.Send{{Peer: 1, Data: data, Call: own}}, nil); err != nil {
			t.Errorf("rank 0 sends: %v", err)
		}
		ends[0].Begin(next)
		if err := ends[0].Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: back}}); err != nil {
			t.Errorf("rank 0 receives: %v", err)
		}
	})
	stuck := make(chan struct{})
	ranks.Go(func() {
		err := ends[1].Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: into, Call: own}})
		if err != nil || !bytes.Equal(into, data) {
			t.Errorf("rank 1 receives: %v", err)
		}
		close(stuck)
		ends[1].Begin(next)
		if err := ends[1].Exchange(ctx, []wire.Send{{Peer: 0, Data: more}}, nil); err != nil {
			t.Errorf("rank 1 sends: %v", err)
		}
	})
	<-stuck
	time.Sleep(3 * linkbase.StallTime) // both look for a reason
	device.say()
	ranks.Wait()
	if !bytes.Equal(back, more) {
		t.Error("rank 0 has received something else")
	}
}
