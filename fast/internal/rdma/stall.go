package rdma

import (
	"runtime"
	"time"
)

// ProbeInterval is how often a rank that only waits checks whether the peer's device answers.
const ProbeInterval = 300 * time.Millisecond

// spin prepares another round of polling, a patient one.
func (e *Endpoint) spin(idle time.Duration) {
	if idle >= yieldAfter {
		runtime.Gosched()
	}
	e.patient = true
}

// reportStall tells the peers what this rank has waited for without progress, and probes them after a while. It returns
// the error of calls that disagree, if it finds any.
func (e *Endpoint) reportStall() error {
	if e.Idle() >= ProbeInterval {
		e.probe()
	}
	for _, peer := range e.Active {
		l := &e.links[peer]
		if l.giveUpLeft(); !l.ready {
			continue
		}
		l.Partner.RequestReport()
		l.pending = e.AppendReport(&l.Link, l.pending)
		e.flushControl(l)
		if err := l.scan(); err != nil {
			return err
		}
	}
	return e.FindDisagreement()
}

// scan inspects segments ahead of their turn, for the calls that the peer tells with them.
func (l *link) scan() error {
	if int32(l.scanned-l.in.next) < 0 {
		l.scanned = l.in.next
	}
	for ; l.scanned != l.in.arrived; l.scanned++ {
		s, err := parse(l.slot(l.scanned), l.written[l.scanned%l.in.slots])
		if err == nil && s.call != nil {
			err = l.Partner.HandleReport(s.told, s.call)
		}
		if err != nil {
			return l.PeerDied("it has sent %w", err)
		}
	}
	return nil
}

// probe writes 0 bytes to the ranks that this one waits for, so that their devices have to answer.
func (e *Endpoint) probe() {
	now := time.Now()
	for _, peer := range e.Active {
		l := &e.links[peer]
		if !l.ready || l.dead || now.Sub(l.probed) < ProbeInterval {
			continue
		}
		l.probed = now
		for i := range l.pairs {
			if q := &l.pairs[i]; q.done == q.signaled && q.canWrite() {
				e.write(q, Write{To: l.conn.remote.at, Key: q.key, Signal: true})
			}
		}
		e.post()
	}
}
