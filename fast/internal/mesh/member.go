package mesh

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// of returns the member with a number, which is made if it is new. It is called with m.mu held, as broadcast and peers
// are.
func (m *Mesh) of(process int) *member {
	if m.members[process] == nil {
		m.members[process] = new(member)
		m.highest = max(m.highest, process)
	}
	return m.members[process]
}

// broadcast wakes those who wait for a member to change.
func (m *Mesh) broadcast() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// peers returns the connections to those who are not down. The caller does not change it.
func (m *Mesh) peers() []*peer {
	if m.connected == nil {
		m.connected = make([]*peer, 0, len(m.members))
		for _, x := range m.members {
			if x.peer != nil && x.err == nil {
				m.connected = append(m.connected, x.peer)
			}
		}
	}
	return m.connected
}

// peer returns the connection to a process; nil: there is none, or none any more.
func (m *Mesh) peer(process int) *peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil && x.err == nil {
		return x.peer
	}
	return nil
}

// cardOf returns the card of a process, empty if it is not known.
func (m *Mesh) cardOf(process int) Card {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.card
	}
	return Card{}
}

// know takes the card of a process, which may come by several ways. One without addresses does not replace a later one
// of the same process. It is false if another process of that number is connected.
func (m *Mesh) know(c Card, raw []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.of(c.Process)
	another := x.raw != nil && x.card.Token != c.Token
	switch {
	case another && x.peer != nil:
		return false
	case another, x.raw == nil, len(c.Addresses) > 0:
		x.card, x.raw = c, raw
		m.broadcast()
	}
	return true
}

// await waits until done, which is called with m.mu held, or until ctx ends, with its cause.
func (m *Mesh) await(ctx context.Context, done func() bool) error {
	for {
		m.mu.Lock()
		ok, changed, closed := done(), m.changed, m.closed
		m.mu.Unlock()
		switch {
		case ok:
			return nil
		case closed:
			return wire.ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
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

// greet lets a process know that this one lives.
func (m *Mesh) greet(p *peer) {
	if !m.showBeats(p) {
		p.pulse(0)
	}
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
