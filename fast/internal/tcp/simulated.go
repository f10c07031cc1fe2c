package tcp

import "time"

// Simulated is a Socket of a simulated network, under the clock of the goroutines, which may be simulated too.
type Simulated interface {
	Socket
	// Ready reports whether Read and Write would do something.
	Ready() (in, out bool)
	// Notify arranges for f to be called soon after that may have changed. A later f replaces it.
	Notify(f func())
}

// NewSimulated is New for Simulated sockets, which AttachSimulated attaches. It never polls: that would take no time of
// a clock that stands still while a goroutine runs.
func NewSimulated(rank, size int, connect func(peer int)) *Endpoint {
	e := New(rank, size, size, false, connect)
	e.Patience, e.poller = 0, &simulatedPoller{make(chan struct{}, 1)}
	return e
}

// AttachSimulated is Attach for a Simulated socket.
func (e *Endpoint) AttachSimulated(peer int, s Simulated) { e.deliver(arrival{peer: peer, socket: s}) }

// simulatedPoller waits until a simulated socket notifies it.
type simulatedPoller struct{ notified chan struct{} }

func (p *simulatedPoller) add(int) error { return nil }

func (p *simulatedPoller) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for {
		if ready := p.ready(e); len(ready) > 0 || atMost == 0 || e.End.Failed() != nil || e.Changed.Load() || e.Leaves() {
			return ready, nil
		}
		select {
		case <-p.notified:
		case <-timer.C:
			return nil, nil
		}
	}
}

// ready returns the links whose sockets are ready for what is of interest to e.
func (p *simulatedPoller) ready(e *Endpoint) (all []readiness) {
	for peer := range e.links {
		s, ok := e.links[peer].socket.(Simulated)
		if !ok {
			continue
		}
		s.Notify(p.wake)
		wantIn, wantOut := e.interest(&e.links[peer])
		in, out := s.Ready()
		if in, out = in && wantIn, out && wantOut; in || out {
			all = append(all, readiness{peer, in, out})
		}
	}
	return all
}

func (p *simulatedPoller) wake() {
	select {
	case p.notified <- struct{}{}:
	default:
	}
}

func (p *simulatedPoller) close() {}
