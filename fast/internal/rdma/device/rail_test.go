//go:build linux && cgo && !netgo

package device_test

import (
	"os"
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// sent returns how many bytes each interface has sent.
func sent(t testing.TB) (n [2]int) {
	for i, nic := range vm.NICs {
		n[i] = nic.Sent(t)
	}
	return n
}

// TestRails sends messages over two devices, whose interfaces count what they carry: of a long one out of registered
// memory into registered memory about a half each, of others all over one.
func TestRails(t *testing.T) {
	all := railed(t, 2, 2)
	pass(t, all, 1, false)
	for _, x := range []struct {
		bytes   int
		known   bool
		striped bool
	}{{20<<20 + 1, true, true}, {300_001, true, true}, {1 << 20, false, false}, {100_000, true, false}} {
		before := sent(t)
		pass(t, all, x.bytes, x.known)
		after := sent(t)
		carried := [2]int{after[0] - before[0], after[1] - before[1]}
		if half := x.bytes / 2; x.striped != (min(carried[0], carried[1]) >= half-half/20) ||
			carried[0]+carried[1] < x.bytes {
			t.Errorf("%+v: the interfaces have sent %v bytes", x, carried)
		}
		t.Logf("%+v: the interfaces have sent %v bytes", x, carried)
	}
}

// TestRailFaults has a network lose packets.
func TestRailFaults(t *testing.T) {
	vm.Need(t)
	vm.Netem(t, "loss", "2%")
	pass(t, railed(t, 2, 2), 300_001, true)
}

// TestRailGone: what rank 0 has on one of two devices goes.
func TestRailGone(t *testing.T) { gone(t, 2) }

// TestRailExchange is all that transports are tested by, over two devices, if COLLGEN_RDMA is "all".
func TestRailExchange(t *testing.T) {
	vm.Need(t)
	if os.Getenv("COLLGEN_RDMA") != "all" {
		t.Skip("only with COLLGEN_RDMA=all: it takes a minute")
	}
	exchangetest.Run(t, func(t *testing.T, size int) (all []exchangetest.Transport) {
		for _, m := range railed(t, size, 2) {
			all = append(all, m)
		}
		return all
	})
}
