package mesh

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Most processes of a large job never have anything to say to each other. A connection that another process has made is
// dormant until something is said over it: it has no goroutines, and one goroutine waits for all of them. So it costs
// little, and the system reports the death of the process at the other end all the same.

// sleep makes p dormant, or starts it if that is not possible.
func (p *peer) sleep(among *dormants) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asleep, p.among = true, among
	if !among.add(p) {
		p.rouse()
	}
}

// rouse starts p if it is dormant. Its caller holds p.mu.
func (p *peer) rouse() {
	if p.asleep {
		p.asleep = false
		p.among.remove(p)
		p.files.open()
		p.start()
	}
}

// endDormant closes a dormant p after it has written last, if that is not nil, and reports false if it could not. Its
// caller holds p.mu.
func (p *peer) endDormant(last *frame) bool {
	if last != nil && !p.files.writeAtOnce(last.bytes) {
		return false
	}
	p.asleep, p.ended, p.cut = false, true, true
	p.among.remove(p)
	_ = p.files.Close()
	return true
}

// plainBye is what a process says that leaves without another reason.
var plainBye = newFrame(frameBye, wire.Topic{}, nil, nil).bytes

// stir handles what has arrived for a dormant p. Many processes leave at once, so it takes a plain goodbye without
// starting p.
func (m *Mesh) stir(p *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asleep {
		return
	}
	switch err := p.files.readAhead(); {
	case err == errNothing:
		p.among.rearm(p)
	case err != nil:
		p.endDormant(nil)
		m.work.Go(func() { m.broken(p, err) })
	case len(p.files.in) == 0 && bytes.Equal(p.files.ahead, plainBye):
		p.endDormant(nil)
		m.work.Go(func() { m.down(p.process, wire.ErrClosed, nil) })
	default:
		p.rouse()
	}
}

// broken marks the process of p as down, whose connection has failed with err.
func (m *Mesh) broken(p *peer, err error) {
	detail, cause := p.cause(err)
	m.cfg.Log.Debug("control connection ended", "process", p.process, "error", detail)
	if p.broke.Store(true); errors.Is(cause, wire.ErrDied) {
		m.readFirst()
	}
	m.down(p.process, cause, nil)
}

// readFirst waits until what others have sent was read, for a second at most: a notice that this process was given up
// explains more than a connection that ends, and has to come first.
func (m *Mesh) readFirst() {
	if m.detector.stalled(m.now()) {
		time.Sleep(rootCauseWait)
	}
	for range 100 {
		if !m.unread() {
			return
		}
		time.Sleep(time.Second / 100)
	}
}

// unread reports whether something has arrived over a connection that has not failed, and was not read or handled yet.
// What arrives when this process closes the mesh is never read.
func (m *Mesh) unread() bool {
	m.mu.Lock()
	peers, closed := m.peers(), m.closed
	m.mu.Unlock()
	return !closed && slices.ContainsFunc(peers, func(p *peer) bool {
		readable, _ := p.ready()
		taking := p.files != nil && p.files.taking.Load()
		return (readable || taking || p.handling.Load()) && !p.broke.Load()
	})
}
