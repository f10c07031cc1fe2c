package mesh

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// serve takes connections from l until the mesh is closed.
func (m *Mesh) serve(l net.Listener) {
	m.work.Go(func() {
		err := m.server.Serve(m.leaving, l, m.check, m.accepted)
		if m.leaving.Err() == nil {
			m.cfg.Log.Error("no more connections are taken", "address", l.Addr(), "error", err)
		}
	})
}

// listenTCP listens on this host's addresses: its loopback address if all processes are on this host, or else those
// that the configuration gives, of which others cannot use a loopback address.
func (m *Mesh) listenTCP(alone bool) error {
	addresses, why := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, "all processes are on one host"
	if !alone {
		var err error
		if addresses, why, err = m.ownAddresses(); err != nil {
			return err
		}
	}
	var failed []error
	for _, a := range addresses {
		if len(m.card.Addresses) == maxAddresses || (alone && len(m.card.Addresses) > 0) {
			break
		}
		if err := m.listenAt(a); err != nil {
			failed = append(failed, err)
		}
	}
	if len(m.card.Addresses) == 0 {
		return fmt.Errorf("this host, %s, can listen on none of %v (%s): %w", m.card.Host, addresses, why, errors.Join(failed...))
	}
	m.cfg.Log.Debug("listening", "addresses", m.card.Addresses, "because", why)
	return nil
}

func (m *Mesh) ownAddresses() (usable []netip.Addr, why string, err error) {
	if m.cfg.Addresses == nil {
		return nil, "", errors.New("some processes are on other hosts, and this one was given no address to listen on")
	}
	all, why, err := m.cfg.Addresses()
	if err != nil {
		return nil, "", fmt.Errorf("finding an address to listen on: %w", err)
	}
	for _, a := range all {
		if foreign(a) {
			usable = append(usable, a.Unmap())
		}
	}
	if len(usable) == 0 {
		return nil, "", fmt.Errorf("some processes are on other hosts, which can reach none of the addresses %v (%s)", all, why)
	}
	return usable, why, nil
}

// foreign reports whether other hosts can use an address. Those that hold only on one link name an interface of one
// host.
func foreign(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast() && !a.IsLinkLocalUnicast() && a.Zone() == ""
}

func (m *Mesh) listenAt(a netip.Addr) error {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	if err != nil {
		return err
	}
	m.card.Addresses = append(m.card.Addresses, netip.AddrPortFrom(a, uint16(l.Addr().(*net.TCPAddr).Port)))
	m.serve(l)
	return nil
}
