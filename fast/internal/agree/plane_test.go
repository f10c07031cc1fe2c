package agree

import (
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// network is a control plane for tests. It calls handlers in the sender's goroutine.
type network struct {
	mu       sync.Mutex
	handlers []func(wire.Note)
	watchers []func(process int, err error)
	down     []error
	sent     int
}

func newNetwork(size int) *network {
	return &network{
		handlers: make([]func(wire.Note), size), watchers: make([]func(int, error), size), down: make([]error, size),
	}
}

// processEnd is one process's end of a network.
type processEnd struct {
	*network
	self int
}

func (p processEnd) Send(to int, t wire.Topic, body []byte, _ ...int) {
	p.mu.Lock()
	handler := p.handlers[to]
	if p.down[to] != nil || p.down[p.self] != nil {
		handler = nil
	}
	p.sent++
	p.mu.Unlock()
	if handler != nil {
		handler(wire.Note{Topic: t, From: p.self, Body: body})
	}
}

func (p processEnd) Handle(_ uint64, _ uint8, f func(wire.Note)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handlers[p.self] = f
}

func (p processEnd) Watch(f func(process int, err error)) (stop func()) {
	p.mu.Lock()
	p.watchers[p.self] = f
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watchers[p.self] = nil
	}
}

// kill ends a process; those of told, or all if there are none, are told.
func (n *network) kill(process int, err error, told ...int) {
	n.mu.Lock()
	n.down[process] = err
	var watchers []func(int, error)
	for p, w := range n.watchers {
		if w != nil && p != process {
			watchers = append(watchers, w)
		}
	}
	if len(told) > 0 {
		watchers = nil
		for _, p := range told {
			watchers = append(watchers, n.watchers[p])
		}
	}
	n.mu.Unlock()
	for _, w := range watchers {
		w(process, err)
	}
}
