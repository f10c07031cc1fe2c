package rdma_test

import (
	"sync/atomic"
	"testing"

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
		ends[rank] = rdma.New(rank, 2, []rdma.Domain{devices[rank]}, func(peer int, card []byte) { ends[peer].ReceiveCard(rank, card) })
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
