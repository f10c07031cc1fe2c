package simnet

import (
	"sync"
	"time"
)

// Process is what can be stopped, or crash: everything that it does on its links. The zero Process runs.
type Process struct {
	mu   sync.Mutex
	shut chan struct{} // nil: it runs
	late time.Duration
	ends []*End
	gone bool
}

// Pass waits while p is stopped, and as long as it is late with everything.
func (p *Process) Pass() {
	for {
		p.mu.Lock()
		shut, late := p.shut, p.late
		p.mu.Unlock()
		if shut == nil {
			time.Sleep(late)
			return
		}
		<-shut
	}
}

// Delay has p be so late with everything from now on.
func (p *Process) Delay(late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = late
}

// Stop stops p, as SIGSTOP does. What others send to it is taken as far as there is room.
func (p *Process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut == nil {
		p.shut = make(chan struct{})
	}
}

// Continue has p go on. If it has crashed, all that it does from now on fails: so its goroutines come to an end.
func (p *Process) Continue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut != nil {
		close(p.shut)
		p.shut = nil
	}
}

// Crash stops p for good and ends its links: others read what was sent before, unless the link is reset.
func (p *Process) Crash(reset func() bool) {
	p.Stop()
	p.mu.Lock()
	ends := p.ends
	p.gone = true
	p.mu.Unlock()
	for _, e := range ends {
		if reset() {
			e.Reset()
		} else {
			e.close()
		}
	}
}

// Crashed reports whether p has.
func (p *Process) Crashed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// own adds one end of a link to p. A process that has crashed has none that is open.
func (p *Process) own(e *End) {
	p.mu.Lock()
	p.ends = append(p.ends, e)
	gone := p.gone
	p.mu.Unlock()
	if gone {
		e.Reset()
	}
}
