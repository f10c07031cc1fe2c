package tcp

import "time"

// Simulated is a Socket of a network that is simulated, under whatever clock the goroutines have.
type Simulated interface {
	Socket
	// Ready tells whether Read and Write would do something.
	Ready() (in, out bool)
	// Notify has f called soon after that may have changed. Only the last f counts.
	Notify(f func())
}

// NewSimulated is New for Simulated sockets, which AttachSimulated gives it. It never looks at a socket in vain: that
// would take no time of a clock that stands still while somebody runs.
func NewSimulated(rank, size int, connect func(peer int)) *Endpoint {
	e := New(rank, size, size, false, connect)
	e.patience, e.poller = 0, &bell{make(chan struct{}, 1)}
	return e
}

// AttachSimulated is Attach.
func (e *Endpoint) AttachSimulated(peer int, s Simulated) { e.arrive(arrival{peer: peer, socket: s}) }

// bell is rung by simulated sockets.
type bell struct{ rung chan struct{} }

func (b *bell) add(int) error { return nil }

func (b *bell) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	over := time.NewTimer(atMost)
	defer over.Stop()
	for {
		if ready := b.ready(e); len(ready) > 0 || atMost == 0 || e.End.Failed() != nil || e.arrived.Load() {
			return ready, nil
		}
		select {
		case <-b.rung:
		case <-over.C:
			return nil, nil
		}
	}
}

// ready returns the sockets that can go on with what e watches them for.
func (b *bell) ready(e *Endpoint) (all []readiness) {
	for peer := range e.links {
		s, ok := e.links[peer].socket.(Simulated)
		if !ok {
			continue
		}
		s.Notify(b.wake)
		watchIn, watchOut := e.watches(&e.links[peer])
		in, out := s.Ready()
		if in, out = in && watchIn, out && watchOut; in || out {
			all = append(all, readiness{peer, in, out})
		}
	}
	return all
}

func (b *bell) wake() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

func (b *bell) close() {}
