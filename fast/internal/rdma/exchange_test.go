package rdma_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// world is what the devices and slots of a test are like.
type world struct {
	fabric.Options
	slots, bytes uint32
	start        uint32 // the numbers of segments begin there
	always       bool   // the whole suite is run, whenever tests are
	known        bool   // all memory of long messages is registered
	rails        []int  // of the ranks, in turn; nil: one each
}

var worlds = map[string]world{
	"usual": {Options: fabric.Options{Inline: 200}, always: true},
	"few slots": {Options: fabric.Options{MTU: 256, MaxMessage: 100_000}, slots: 4, bytes: 4 << 10, start: 1<<32 - 5,
		always: true},
	"registered": {Options: fabric.Options{MaxMessage: 1 << 20, Lazy: 3}, known: true},
	"two rails":  {Options: fabric.Options{MaxMessage: 1 << 20}, known: true, rails: []int{2}, always: true},
	"three rails": {Options: fabric.Options{MTU: 1024, MaxMessage: 100_000, Lazy: 3}, slots: 8, bytes: 4 << 10,
		start: 1<<30 - 1,
		known: true, rails: []int{3, 2, 3, 1}},
	"slow device": {Options: fabric.Options{MTU: 1024, Inline: 64, Lazy: 8}, slots: 8, bytes: 8 << 10, start: 1<<30 - 3},
}

// TestExchange runs some of the worlds, and all of them if COLLGEN_RDMA is "all".
func TestExchange(t *testing.T) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			if !w.always && os.Getenv("COLLGEN_RDMA") != "all" {
				t.Skip("only with COLLGEN_RDMA=all: they take 15 seconds")
			}
			exchangetest.Run(t, w.transports)
		})
	}
}

// TestTellEach: of ranks that disagree each finds out by itself.
func TestTellEach(t *testing.T) { exchangetest.RunTellEach(t, worlds["usual"].transports) }

func (w world) transports(t *testing.T, size int) (all []exchangetest.Transport) {
	for _, m := range w.group(t, size).all {
		all = append(all, m)
	}
	return all
}

// railsOf returns how many rails a rank has.
func (w world) railsOf(rank int) int {
	if w.rails == nil {
		return 1
	}
	return w.rails[rank%len(w.rails)]
}

// group is endpoints of ranks on one fabric.
type group struct {
	*fabric.Fabric
	all   []member
	carry func(from, to int, card []byte) // brings a card there
}

// member is an endpoint that tells the others when it closes.
type member struct {
	*rdma.Endpoint
	device *fabric.Domain   // of the first rail
	rails  []*fabric.Domain // all
	others func() []member
	closed *atomic.Bool
	known  map[*byte]int // how many bytes from there on were made known; nil: none are
}

// Exchange makes the memory of long messages known first.
func (m member) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if m.known != nil {
		for i := range sends {
			m.know(sends[i].Data)
		}
		for i := range recvs {
			m.know(recvs[i].Into)
		}
	}
	return m.Endpoint.Exchange(ctx, sends, recvs)
}

// left returns how many pairs and regions there are of its devices.
func (m member) left() (n int) {
	for _, d := range m.rails {
		n += d.Left()
	}
	return n
}

func (m member) know(b []byte) {
	if at := unsafe.SliceData(b); len(b) >= rdma.LongBytes && m.known[at] < len(b) {
		m.known[at] = len(b)
		m.Know(b)
	}
}

func (m member) Close() error {
	err := m.Endpoint.Close()
	if !m.closed.Swap(true) {
		for _, other := range m.others() {
			other.Left(m.Rank, true)
		}
	}
	return err
}

var seed atomic.Uint64

// group returns endpoints of size ranks, which are closed when the test ends.
func (w world) group(t testing.TB, size int) *group {
	t.Helper()
	if w.slots == 0 {
		w.slots, w.bytes = rdma.DefaultSlots, rdma.DefaultBytes
	}
	if w.Seed == 0 {
		w.Seed = seed.Add(1)
	}
	g := &group{Fabric: fabric.New(w.Options)}
	g.carry = func(from, to int, card []byte) { g.all[to].ReceiveCard(from, card) }
	for rank := range size {
		var rails []*fabric.Domain
		var domains []rdma.Domain
		for i := range w.railsOf(rank) {
			d := g.Domain(fmt.Sprint("sim", rank, "abcdefgh"[i:i+1]))
			rails, domains = append(rails, d), append(domains, d)
		}
		e := rdma.NewEndpoint(rank, size, domains, func(peer int, card []byte) { g.carry(rank, peer, card) }, w.slots,
			w.bytes)
		e.StartAt(w.start)
		m := member{Endpoint: e, device: rails[0], rails: rails, others: func() []member { return g.all },
			closed: new(atomic.Bool)}
		if w.known {
			m.known = map[*byte]int{}
		}
		g.all = append(g.all, m)
	}
	t.Cleanup(func() {
		for _, m := range g.all {
			_ = m.Close()
		}
	})
	return g
}
