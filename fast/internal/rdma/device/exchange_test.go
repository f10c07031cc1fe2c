//go:build linux && cgo && !netgo

package device_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/device"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// member is an endpoint that tells the others when it closes.
type member struct {
	*rdma.Endpoint
	domain  rdma.Domain   // of the first rail
	domains []rdma.Domain // of all
	rank    int
	all     []*member
	closed  atomic.Bool
}

func (m *member) Close() error {
	err := m.Endpoint.Close()
	if !m.closed.Swap(true) {
		for _, other := range m.all {
			if other != nil { // its device could not be opened
				other.Left(m.rank, true)
			}
		}
	}
	return err
}

// members returns the endpoints of size ranks, on both devices in turn.
func members(t testing.TB, size int) []*member { return railed(t, size, 1) }

// railed returns the endpoints of size ranks with so many rails each. The first one is on both devices in turn, the
// second on the other one: so is what ranks 0 and 1 say to each other on each rail over the wire.
func railed(t testing.TB, size, rails int) []*member {
	t.Helper()
	vm.Need(t)
	return on(t, size, rails, func(rank, rail int) string { return vm.NICs[(rank+rail)%2].Device })
}

// on returns the endpoints of size ranks with so many rails each, on these devices.
func on(t testing.TB, size, rails int, name func(rank, rail int) string) []*member {
	t.Helper()
	all := make([]*member, size)
	for rank := range all {
		var domains []rdma.Domain
		for i := range rails {
			o := device.Options{Device: name(rank, i), Port: 1, Completions: 8192, Timeout: vm.Patience}
			d, err := device.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			domains = append(domains, d)
		}
		all[rank] = &member{domain: domains[0], domains: domains, rank: rank, all: all}
		all[rank].Endpoint = rdma.New(rank, size, domains, func(peer int, card []byte) { all[peer].ReceiveCard(rank, card) })
		t.Cleanup(func() { _ = all[rank].Close() })
	}
	return all
}

func transports(t *testing.T, size int) (all []exchangetest.Transport) {
	for _, m := range members(t, size) {
		all = append(all, m)
	}
	return all
}

func TestExchange(t *testing.T) {
	vm.Need(t)
	exchangetest.Run(t, transports)
}

func TestTellEach(t *testing.T) {
	vm.Need(t)
	exchangetest.RunTellEach(t, transports)
}

// TestNames has the domain called by its device and port.
func TestNames(t *testing.T) {
	vm.Need(t)
	for _, o := range []device.Options{{Completions: 10}, {Device: "rxe1", Completions: 10, MTU: 1024}} {
		usable, refused, err := device.Find(t.Context(), o)
		if err != nil || len(usable) != 1 || refused != nil {
			t.Fatalf("%v, %v, %v", usable, refused, err)
		}
		d, err := device.Open(t.Context(), usable[0])
		if err != nil {
			t.Fatal(err)
		}
		want := o.Device
		if want == "" {
			want = "rxe0"
		}
		if got := d.Name(); got != fmt.Sprint(want, ":1") {
			t.Errorf("got %q", got)
		}
		p, err := d.Pair(10, 10)
		if err != nil {
			t.Fatal(err)
		}
		if mtu := p.Address().MTU; o.MTU != 0 && int(mtu) != o.MTU || o.MTU == 0 && mtu != 4096 {
			t.Errorf("%s: packets of %d", d.Name(), mtu)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
