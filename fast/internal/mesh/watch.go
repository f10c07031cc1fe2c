package mesh

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Down returns why a process is taken for dead: wire.ErrDied, wire.ErrFrozen, wire.ErrClosed if it has closed its mesh,
// or what Fence was given; or else nil. That of this process is wire.ErrFenced when another one takes it for dead, and
// so is then that of the other one. Who is down stays down.
func (m *Mesh) Down(process int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.err
	}
	return nil
}

// Watch has f called for each process that is down or goes down, once, until stop, with what Down says; after all
// messages that came from it. F must not block.
func (m *Mesh) Watch(f func(process int, err error)) (stop func()) { return m.inbox.Watch(f) }

// Fence takes a process for dead, because of err, tells it so, and sends it away should it come back. Of this process
// itself it is not believed.
func (m *Mesh) Fence(process int, err error) { m.fence(process, err) }

// fence is false if the process was down already, or is this one.
func (m *Mesh) fence(process int, err error) bool {
	last := newFrame(frameFenced, wire.Topic{}, nil, nil)
	return process != m.me.Process && m.down(process, err, &last)
}

// giveUp fences processes, and says so once for all of them.
func (m *Mesh) giveUp(processes []int, err error, why string) {
	given := slices.DeleteFunc(processes, func(p int) bool { return !m.fence(p, err) })
	if len(given) > 0 {
		m.cfg.Log.Warn("processes given up: "+why, "processes", given)
	}
}

// down takes a process for dead, the first time that it is called for it, and closes the connection after last was
// written, if there is one. After that it is false.
func (m *Mesh) down(process int, err error, last *frame) bool {
	m.mu.Lock()
	x := m.of(process)
	if m.closed || x.err != nil {
		m.mu.Unlock()
		return false
	}
	x.err, m.connected = err, nil
	p := x.peer
	m.broadcast()
	m.mu.Unlock()
	if p != nil {
		p.end(last, true)
	}
	m.inbox.Fall(process, err)
	return true
}
