package mesh

import (
	"net"
	"net/netip"
	"testing"
)

// outsideAddress returns an address of this machine that other hosts could use, if there is one.
func outsideAddress() (netip.Addr, bool) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && foreign(p.Addr()) {
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}

func hasOutside() bool {
	_, ok := outsideAddress()
	return ok
}

func outside(t *testing.T) netip.Addr {
	a, ok := outsideAddress()
	if !ok {
		t.Skip("this machine has no address but that of its loopback interface")
	}
	return a
}
