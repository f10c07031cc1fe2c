package mesh

import (
	"fmt"
	"net/netip"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// route is a way to a process: its socket on this host, or an address.
type route struct {
	socket  string
	address netip.AddrPort
}

// Network and String make it a net.Addr.
func (r route) Network() string {
	if r.socket != "" {
		return "unix"
	}
	return "tcp"
}

func (r route) String() string {
	if r.socket != "" {
		return "@" + r.socket
	}
	return r.address.String()
}

// routesTo returns the ways to the process of card c, the best first, at least one. To another host no loopback address
// leads, whatever the card says.
func (m *Mesh) routesTo(c *Card, p secure.Purpose) (routes []route, err error) {
	local := c.Host == m.cfg.Host
	if local && c.Socket != "" && m.card.Socket != "" && p != secure.Data {
		return []route{{socket: c.Socket}}, nil
	}
	for _, a := range c.Addresses {
		if foreign(a.Addr()) || (local && a.Addr().IsLoopback()) {
			routes = append(routes, route{address: a})
		}
	}
	if len(routes) == 0 {
		err := fmt.Errorf("it has no address that this host, %s, can reach: %v", m.cfg.Host, c.Addresses)
		return nil, &wire.PeerError{Rank: c.Process, Err: err}
	}
	return routes, nil
}
