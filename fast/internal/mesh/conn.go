package mesh

import (
	"errors"
	"net"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Wired returns the mesh of a job that is simulated: over connections that are there already, one to each process, nil
// to its own. pause is called before anything is read, written or looked after.
func Wired(cfg Config, wires []net.Conn, pause func()) (*Mesh, error) {
	cfg.pause = pause
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.work.Go(m.watchOver)
	for process, wire := range wires {
		c := Card{Process: process, Host: cfg.Host, HeartbeatTimeout: m.cfg.HeartbeatTimeout}
		m.know(c, c.encode(cfg.Credentials, cfg.Identity))
		if wire != nil {
			m.attach(process, wire, nil)
		}
	}
	return m, nil
}

// attach makes conn the control connection to a process. It is false, and conn is closed, if there is one already or
// the process is down.
func (m *Mesh) attach(process int, conn, under net.Conn) bool {
	p := m.newPeer(process, conn, under)
	if !m.add(p) {
		return false
	}
	m.greet(p)
	return true
}

// newPeer returns a connection to a process, which is not used yet.
func (m *Mesh) newPeer(process int, conn, under net.Conn) *peer {
	p := &peer{process: process, conn: conn, pause: m.cfg.pause, since: m.now,
		joined: m.joined.Load, wake: make(chan struct{}, 1)}
	if p.files, _ = under.(*fdConn); p.files != nil {
		p.pid.Store(int64(p.files.process()))
		p.unmet.Store(p.files.trust())
	}
	p.tcp, _ = under.(*net.TCPConn)
	if p.tcp != nil {
		// Unless this process takes its leave, the other side is to know of its end by a reset, which reaches it also
		// where data, and the end after them, wait for an acknowledgement that is lost.
		_ = p.tcp.SetLinger(0)
		impatient(p.tcp, int(2*m.cfg.HeartbeatTimeout/time.Millisecond))
	}
	p.heard.Store(m.now())
	return p
}

// add makes p the control connection to its process. It is false, and p is closed, if there is one already or the
// process is down.
func (m *Mesh) add(p *peer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.of(p.process)
	if m.closed || x.peer != nil || x.err != nil {
		_ = p.conn.Close()
		return false
	}
	x.peer, m.connected = p, nil
	if m.goodbye != nil {
		p.end(m.goodbye, false)
	}
	m.broadcast()
	m.work.Go(func() { m.run(p) })
	return true
}

// run reads and writes until both have ended, and closes the connection.
func (m *Mesh) run(p *peer) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
	}()
	if err := p.read(m.take); err != nil {
		detail, cause := p.cause(err)
		m.cfg.Log.Debug("control connection ended", "process", p.process, "error", detail)
		if errors.Is(cause, wire.ErrDied) && m.detector.stalled(m.now()) {
			time.Sleep(hearsay) // another one may say that this process was given up: that is why, and comes first
		}
		m.down(p.process, cause, nil)
	}
	p.end(nil, true)
	<-written
	_ = p.conn.Close()
}

// take takes a frame of p. It is false if it is the last one.
func (m *Mesh) take(p *peer, h head, body []byte, files []int) (bool, error) {
	switch h.kind {
	case frameBeat:
		late, err := decodeLate(body)
		p.late.Store(late)
		m.greeted(p, nil)
		return err == nil, err
	case frameCount:
		err := m.follow(p, files)
		return err == nil, err
	case frameBlind:
		p.counted.Store(false)
	case frameNote:
		lost := len(files) < int(h.files)
		if lost {
			m.cfg.Log.Error("a message came without its files", "from", p.process, "error", errLost)
		}
		m.arrived(wire.Note{Topic: h.topic, From: p.process, Body: body, Files: files, Lost: lost})
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
