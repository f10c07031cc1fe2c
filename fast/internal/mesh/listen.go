package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// begin makes this process's first card, starts to listen on the local socket and starts the detector.
func (m *Mesh) begin() {
	m.card = Card{Process: m.me.Process, Host: m.cfg.Host, HeartbeatTimeout: m.cfg.HeartbeatTimeout,
		ForceTCP: m.cfg.ForceTCP, Encrypt: m.cfg.Encrypt, HasRDMA: m.cfg.HasRDMA, ForceRDMA: m.cfg.ForceRDMA}
	_, _ = rand.Read(m.card.Token[:])
	m.card.Socket = m.listenLocal()
	if m.card.Socket != "" {
		var err error
		if m.beats, err = newBeats(); err != nil {
			m.cfg.Log.Debug("heartbeats are not counted in shared memory", "error", err)
		}
	}
	m.work.Go(m.runDetector)
}

// listenLocal listens on an abstract unix socket, which needs no directory. It returns the socket's name, or nothing if
// there can be none.
func (m *Mesh) listenLocal() (name string) {
	if !abstractSockets {
		return ""
	}
	name = "collgen-" + rand.Text()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@" + name})
	if err != nil {
		m.cfg.Log.Warn("processes of this host cannot connect by a socket", "error", err)
		return ""
	}
	m.serve(userListener{l})
	return name
}

// listenTCP listens on a loopback address if all processes are on this host, and otherwise on the configured addresses
// that other hosts can use.
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
		return fmt.Errorf("this host, %s, can listen on none of %v (%s): %w", m.card.Host, addresses, why,
			errors.Join(failed...))
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
		return nil, "", fmt.Errorf("some processes are on other hosts, which can reach none of the addresses %v (%s)",
			all, why)
	}
	return usable, why, nil
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

// serve accepts connections from l until the mesh is closed.
func (m *Mesh) serve(l net.Listener) {
	m.work.Go(func() {
		err := m.server.Serve(m.leaving, l, m.check, m.accepted)
		if m.leaving.Err() == nil {
			m.cfg.Log.Error("no more connections are accepted", "address", l.Addr(), "error", err)
		}
	})
}

// check returns why a process may not have a connection.
func (m *Mesh) check(h secure.Hello, _ secure.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.members[h.From]
	switch {
	case x != nil && x.err != nil:
		return wire.ErrFenced
	case h.Purpose == secure.Join:
		return m.checkTicket(h)
	case x == nil || x.raw == nil || (h.Purpose == secure.Data && x.peer == nil):
		return fmt.Errorf("%w: process %d is not known here yet", secure.ErrBusy, h.From)
	case h.Purpose == secure.Data && h.Encrypt != m.cfg.Encrypt:
		return errors.New("data is to be encrypted by both processes or by none")
	case h.Purpose == secure.Data:
		return nil
	case h.Purpose != secure.Control || h.From < m.me.Process:
		return fmt.Errorf("process %d does not call process %d for this", h.From, m.me.Process)
	case h.Token != x.card.Token || x.peer != nil:
		return ErrTaken
	}
	return nil
}

// accepted handles a connection that a process has made.
func (m *Mesh) accepted(c *secure.Conn, h secure.Hello) {
	if h.Purpose == secure.Data {
		m.admitData(c, h)
		return
	}
	ok := m.confirm(c)
	if h.Purpose == secure.Join {
		m.endTicketUse(h, ok)
	}
	if !ok || !m.attach(h.From, c, c.NetConn()) || h.From < m.me.Size {
		return
	}
	if h.Purpose == secure.Join {
		m.sendMembers(h.From)
	}
	m.Send(h.From, wire.Topic{Comm: meshComm, Kind: kindHello, Seq: uint32(m.me.Process)}, nil)
}

// confirmTimeout limits how long confirm waits, because nothing limits the number of such connections.
const confirmTimeout = 15 * time.Second

// confirm waits until the process that has dialled confirms the connection. If it does not, confirm closes it.
func (m *Mesh) confirm(c *secure.Conn) bool {
	stop := context.AfterFunc(m.leaving, func() { _ = c.Close() })
	defer stop()
	var b [1]byte
	err := c.SetDeadline(time.Now().Add(confirmTimeout))
	if err == nil {
		_, err = c.Read(b[:])
	}
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil || b[0] != confirmed {
		_ = c.Close()
		return false
	}
	return true
}

// admitData hands a data connection to its communicator, or keeps it until there is one.
func (m *Mesh) admitData(c *secure.Conn, h secure.Hello) {
	raw, err := c.Raw(m.cfg.Encrypt)
	if err != nil {
		m.cfg.Log.Warn("a data connection cannot be used", "from", h.From, "error", err)
		_ = c.Close()
		return
	}
	if f := m.pending.add(pendingConn{h.Comm, h.From, raw, time.Now()}); f != nil {
		f(h.From, raw)
	}
}

// HandleConns has f called with each data connection that a process makes for comm, including those that are waiting. F
// owns the connections. It must not block, and may be called from several goroutines.
func (m *Mesh) HandleConns(comm uint64, f func(from int, c wire.Conn)) {
	for _, v := range m.pending.handle(comm, f) {
		f(v.from, v.conn)
	}
}
