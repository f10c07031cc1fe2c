//go:build linux

package launchers

import (
	"fmt"
	"testing"
)

// network is hosts that are linked by a switch, which is a bridge in a namespace of its own. Host i has the addresses
// 10.77.0.i+1 and fd77::i+1. All of them have the same hostname, and one more interface with one more address, which is
// the same on all: as the bridges are that containers are behind.
type network struct {
	*host // the switch
	hosts []*host
}

// newNetwork returns a network of n hosts.
func newNetwork(t *testing.T, n int) *network {
	t.Helper()
	needsRoot(t)
	needs(t, "ip", "nft", "nsenter")
	w := &network{host: newHost(t, "switch")}
	w.mustSetUp("ip link add name switch type bridge")
	w.mustSetUp("ip link set switch up")
	w.mustSetUp("nft add table bridge cuts")
	w.mustSetUp("nft add chain bridge cuts forward { type filter hook forward priority 0 ; policy accept ; }")
	for i := range n {
		w.hosts = append(w.hosts, w.link(i))
	}
	return w
}

// link adds host i, and links it to the switch.
func (w *network) link(i int) *host {
	w.t.Helper()
	h := newHost(w.t, port(i))
	w.mustSetUp("ip link add name %s type veth peer name eth0 netns %d", port(i), h.first.Process.Pid)
	w.mustSetUp("ip link set %s master switch up", port(i))
	h.mustSetUp("ip link add name docker0 type bridge")
	h.mustSetUp("ip address add 172.17.0.1/16 dev docker0")
	h.mustSetUp("ip link set docker0 up")
	h.mustSetUp("ip address add %s/24 dev eth0", address(i))
	h.mustSetUp("ip address add fd77::%d/64 dev eth0 nodad", i+1)
	h.mustSetUp("ip link set eth0 up")
	return h
}

// address is host i's.
func address(i int) string { return fmt.Sprint("10.77.0.", i+1) }

// port returns the name of the switch's port to host i.
func port(i int) string { return fmt.Sprint("port", i) }

// cut drops all that goes from one host to another from now on, in that direction.
func (w *network) cut(from, to int) {
	w.t.Helper()
	w.mustSetUp("nft add rule bridge cuts forward iifname %s oifname %s drop", port(from), port(to))
}

// mend ends all cuts.
func (w *network) mend() {
	w.t.Helper()
	w.mustSetUp("nft flush chain bridge cuts forward")
}
