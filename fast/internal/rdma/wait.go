package rdma

import (
	"runtime"
	"time"
)

const (
	patience = 100 * time.Microsecond // how long a rank looks for completions before it sleeps
	alone    = 10 * time.Microsecond  // how long it keeps its processor meanwhile
)

// Probing is how often a rank that only waits looks whether the other one's device answers.
const Probing = 300 * time.Millisecond

// spin prepares another look at the queues, a patient one.
func (e *Endpoint) spin(idle time.Duration) {
	if idle >= alone {
		runtime.Gosched()
	}
	e.patient = true
}

// reportStall tells the peers what this rank has waited for without progress, and after a while probes them. It returns
// the error of calls that disagree, if it finds any.
func (e *Endpoint) reportStall() error {
	if e.Idle() >= Probing {
		e.probe()
	}
	return e.inVain()
}

// probe writes nothing to ranks that are waited for, so that their devices answer, or do not.
func (e *Endpoint) probe() {
	now := time.Now()
	for _, peer := range e.Active {
		l := &e.links[peer]
		if !l.ready || l.dead || now.Sub(l.probed) < Probing {
			continue
		}
		l.probed = now
		for i := range l.lanes {
			if t := &l.lanes[i]; t.ended == t.signed && t.canWrite() {
				e.write(t, Write{To: l.line.remote.at, Key: t.key, Signal: true})
			}
		}
		e.post()
	}
}
