package mesh

import (
	"net"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Wired returns the mesh of a simulated job over existing connections, one to each process and nil to its own. Pause is
// called before every read, write and turn of the detector.
func Wired(cfg Config, wires []net.Conn, pause func()) (*Mesh, error) {
	cfg.pause = pause
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.work.Go(m.runDetector)
	for process, wire := range wires {
		c := Card{Process: process, Host: cfg.Host, HeartbeatTimeout: m.cfg.HeartbeatTimeout}
		m.know(c, c.encode(cfg.Credentials, cfg.Identity))
		if wire != nil {
			m.attach(process, wire, nil)
		}
	}
	return m, nil
}

// attach makes conn the control connection to a process. If there is one already or the process is down, it closes conn
// and reports false.
func (m *Mesh) attach(process int, conn, under net.Conn) bool {
	p := m.newPeer(process, conn, under)
	if !m.add(p) {
		return false
	}
	m.announce(p)
	return true
}

// newPeer returns a connection to a process, before it is used.
func (m *Mesh) newPeer(process int, conn, under net.Conn) *peer {
	p := &peer{process: process, conn: conn, pause: m.cfg.pause, since: m.now,
		joined: m.joined.Load, wake: make(chan struct{}, 1)}
	p.start = func() { m.work.Go(func() { m.run(p) }) }
	if p.files, _ = under.(*fdConn); p.files != nil {
		p.pid.Store(int64(p.files.process()))
		p.unmet.Store(p.files.trust())
		c, ok := conn.(*secure.Conn)
		p.bare = conn == under || ok && c.Conn == under
	}
	p.tcp, _ = under.(*net.TCPConn)
	if p.tcp != nil {
		// If this process ends without a goodbye, the other side should get a reset. A reset arrives even if data, and
		// the FIN after them, wait for an acknowledgement that is lost.
		_ = p.tcp.SetLinger(0)
		setUserTimeout(p.tcp, int(2*m.cfg.HeartbeatTimeout/time.Millisecond))
	}
	p.heard.Store(m.now())
	return p
}

// add makes p the control connection to its process. If there is one already or the process is down, it closes p and
// reports false.
func (m *Mesh) add(p *peer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.of(p.process)
	if m.closed || x.peer != nil || x.err != nil {
		_ = p.conn.Close()
		return false
	}
	x.peer, m.connected = p, nil
	if p.files != nil && p.files.socket == nil {
		p.sleep(&m.dormants)
	} else {
		p.start()
	}
	if m.goodbye != nil {
		p.end(m.goodbye, false)
	}
	m.broadcast()
	return true
}

// run reads and writes until both have ended, and then closes the connection.
func (m *Mesh) run(p *peer) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
	}()
	if err := p.read(m.handleFrame); err != nil {
		m.broken(p, err)
	}
	p.end(nil, true)
	<-written
	_ = p.conn.Close()
}

// handleFrame handles a frame of p. It reports false after the last one.
func (m *Mesh) handleFrame(p *peer, h head, body []byte, files []int) (bool, error) {
	switch h.kind {
	case frameBeat:
		late, err := decodeLate(body)
		p.late.Store(late)
		return err == nil, err
	case frameCount:
		err := m.onCount(p, files)
		return err == nil, err
	case frameBlind:
		p.counted.Store(false)
	case frameNote:
		lost := len(files) < int(h.files)
		if lost {
			m.cfg.Log.Error("a message came without its files", "from", p.process, "error", errLost)
		}
		m.deliver(m.inbox.Take, wire.Note{Topic: h.topic, From: p.process, Body: body, Files: files, Lost: lost})
	case frameFenced:
		if m.down(m.me.Process, wire.ErrFenced, nil) { // the first one that says so
			m.cfg.Log.Warn("this process was given up", "by", p.process)
		}
		m.down(p.process, wire.ErrFenced, nil)
		return false, nil
	case frameBye:
		f, err := decodeCloseReason(body)
		if err == nil {
			m.down(p.process, f.err(), nil)
		}
		return false, err
	}
	return true, nil
}
