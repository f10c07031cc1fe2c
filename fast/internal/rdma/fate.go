package rdma

import "time"

// abort ends what is in flight of a failed Exchange, so that nothing reads or writes the caller's memory any more, and
// tells other ranks that their messages did not match.
func (e *Endpoint) abort() {
	for _, peer := range e.Peers {
		l := &e.links[peer]
		if l.Partner.Refusal != nil {
			l.unsaid, l.Partner.Refusal = append(l.unsaid, l.Partner.Refusal...), nil
			e.flush(l)
		}
		if l.inFlight() != [2]*known{} {
			l.cut()
			l.Fail(l.PeerDied("the link was given up with a message on its way"))
		}
	}
	e.awaitFlush()
	for _, peer := range e.Peers {
		e.known.withdraw(e.links[peer].inFlight())
	}
	e.giveBack() // nobody reads, or releases, what a failed Exchange has lent
}

// inFlight returns the memory of the caller that this rank's device reads, and that the other one's may write.
func (l *link) inFlight() (in [2]*known) {
	if !l.gone() {
		in[0] = l.put.from
	}
	in[1] = l.where
	return in
}

// flushTime is how long devices may take to complete what was in flight on broken queue pairs.
const flushTime = time.Second

// awaitFlush waits until nothing of the caller's memory is read any more.
func (e *Endpoint) awaitFlush() {
	for start := time.Now(); !e.flushed() && time.Since(start) < flushTime; {
		_ = e.rails.sleep(time.Millisecond)
	}
}

// flushed reports whether nothing of the caller's memory is read any more, or nobody will ever tell.
func (e *Endpoint) flushed() bool {
	if e.poll() != nil {
		return true
	}
	for _, peer := range e.Peers {
		if l := &e.links[peer]; !l.gone() && l.unended() > 0 {
			return false
		}
	}
	return true
}
