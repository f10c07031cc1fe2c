package mesh

import (
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
)

// fall is that a process went down.
type fall struct {
	process int
	err     error
}

// watcher is somebody who is told of falls.
type watcher struct {
	tell    func(process int, err error)
	stopped atomic.Bool
}

// Down is why a process is taken for dead: wire.ErrDied, wire.ErrFrozen, wire.ErrClosed if it has closed its mesh, or what
// Fence was given; or else nil. That of this process is wire.ErrFenced when another one takes it for dead, and so is then
// that of the other one. Who is down stays down.
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
func (m *Mesh) Watch(f func(process int, err error)) (stop func()) {
	w := &watcher{tell: f}
	m.events.post(func() {
		for _, x := range m.fallen {
			w.hear(x)
		}
		if !w.stopped.Load() {
			m.watchers = append(m.watchers, w)
		}
	})
	return func() { w.stopped.Store(true) }
}

func (w *watcher) hear(x fall) {
	if !w.stopped.Load() {
		w.tell(x.process, x.err)
	}
}

// Fence takes a process for dead, because of err, tells it so, and sends it away should it come back. Of this process
// itself it is not believed.
func (m *Mesh) Fence(process int, err error) {
	if process != m.me.Process {
		last := newFrame(frameFenced, wire.Topic{}, nil, nil)
		m.down(process, err, &last)
	}
}

// down takes a process for dead, the first time that it is called for it, and closes the connection after last was
// written, if there is one.
func (m *Mesh) down(process int, err error, last *frame) {
	m.mu.Lock()
	x := m.of(process)
	if m.closed || x.err != nil {
		m.mu.Unlock()
		return
	}
	x.err = err
	p := x.peer
	m.broadcast()
	m.mu.Unlock()
	if p != nil {
		p.end(last, true)
	}
	m.events.post(func() { m.tell(fall{process, err}) })
}

// tell tells the watchers, and drops those that have stopped.
func (m *Mesh) tell(x fall) {
	m.fallen = append(m.fallen, x)
	watching := m.watchers[:0]
	for _, w := range m.watchers {
		w.hear(x)
		if !w.stopped.Load() {
			watching = append(watching, w)
		}
	}
	clear(m.watchers[len(watching):])
	m.watchers = watching
}
