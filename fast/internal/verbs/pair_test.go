//go:build linux && cgo && !netgo

package verbs

import (
	"net/netip"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// end is one of two queue pairs that are connected, with memory of its own.
type end struct {
	context *Context
	events  chan Event // what the device tells, and more than that is lost
	port    Port
	gid     GID
	pd      *PD
	channel *Channel
	cq      *CQ
	qp      *QP
	mr      *MR
}

const depth = 64

func (e *end) tell(event Event, err error) {
	if err == nil {
		e.events <- event
	}
}

// newEnd makes an end on the first port of a device.
func newEnd(t testing.TB, nic vm.NIC, bytes int) *end {
	t.Helper()
	vm.Need(t)
	e := &end{events: make(chan Event, 100)}
	var err error
	must := func(of error) {
		t.Helper()
		if of != nil {
			t.Fatal(of)
		}
	}
	e.context, err = Open(nic.Device, e.tell)
	must(err)
	t.Cleanup(func() {
		if err := e.context.Close(); err != nil {
			t.Error(err)
		}
	})
	e.port, err = e.context.Port(1)
	must(err)
	gids, err := e.context.GIDs(1)
	must(err)
	e.gid, err = ChooseGID(gids, RoCEv2, netip.MustParseAddr(nic.Address))
	must(err)
	e.channel, err = e.context.CreateChannel()
	must(err)
	e.cq, err = e.context.CreateCQ(4*depth, e.channel)
	must(err)
	e.pd, err = e.context.AllocPD()
	must(err)
	e.qp, err = e.pd.CreateQP(e.cq, e.cq, Depths{Sends: depth, Receives: depth, Inline: 64})
	must(err)
	e.mr, err = e.pd.Register(make([]byte, max(bytes, 1)), LocalWrite|RemoteWrite)
	must(err)
	return e
}

// quick is for tests in which the peer does not answer: it takes a tenth of a second.
var quick = Retry{Timeout: 11, Count: 3, RNR: 1}

// newPair connects a queue pair on one device with one on another, or on the same.
func newPair(t testing.TB, from, to vm.NIC, bytes int, r Retry) (a, b *end) {
	t.Helper()
	a, b = newEnd(t, from, bytes), newEnd(t, to, bytes)
	const psn = 0xfffffe // wraps around with the third packet
	for _, way := range [][2]*end{{a, b}, {b, a}} {
		e, peer := way[0], way[1]
		err := e.qp.ToInit(1, 0, RemoteWrite)
		if err == nil {
			err = e.qp.ToReceive(Path{
				QP: peer.qp.Number, PSN: psn, GID: peer.gid.Raw(), GIDIndex: e.gid.Index,
				MTU: min(e.port.MTU, peer.port.MTU), MinRNRTimer: 1,
			})
		}
		if err == nil {
			err = e.qp.ToSend(psn, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

// post posts, and fails the test if it cannot.
func (e *end) post(t testing.TB, sends ...Send) {
	t.Helper()
	if n, err := e.qp.Post(sends); n != len(sends) || err != nil {
		t.Fatalf("%d of %d are posted: %v", n, len(sends), err)
	}
}

func (e *end) receive(t testing.TB, n int) {
	t.Helper()
	for i := range n {
		if _, err := e.qp.PostReceives([]Receive{{ID: uint64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
}

// next waits for a completion, asleep.
func (e *end) next(t testing.TB) Completion {
	t.Helper()
	if err := e.channel.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		var one [1]Completion
		if n := e.poll(t, one[:]); n > 0 {
			return one[0]
		}
		if err := e.cq.Arm(); err != nil {
			t.Fatal(err)
		}
		if n := e.poll(t, one[:]); n > 0 {
			return one[0]
		}
		if err := e.channel.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *end) poll(t testing.TB, into []Completion) int {
	t.Helper()
	n, err := e.cq.Poll(into)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ways are the pairs of devices that tests go over: each to itself, and to the other.
func ways(t *testing.T, f func(t *testing.T, from, to vm.NIC)) {
	vm.Need(t)
	for _, from := range vm.NICs {
		for _, to := range vm.NICs {
			t.Run(from.Device+" to "+to.Device, func(t *testing.T) { f(t, from, to) })
		}
	}
}
