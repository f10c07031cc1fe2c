package rdma

import (
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// enter begins an Exchange, unless there can be none any more.
func (e *Endpoint) enter() error {
	err := e.End.Enter()
	if err == nil {
		e.giveBack()
	}
	return err
}

// leave ends the Exchange, also after the panic of a kernel; and everything, if that was ended meanwhile.
func (e *Endpoint) leave() {
	if e.Open > 0 {
		e.abort()
		e.giveBack() // nobody reads, or releases, what a failed Exchange has lent
	}
	e.Clear()
	if e.lent == 0 {
		e.rest()
	}
}

// rest is when the endpoint is in nobody's hands any more.
func (e *Endpoint) rest() {
	if e.End.Leave() {
		e.release()
	}
}

// abort ends what is in flight of a failed Exchange, so that nothing reads or writes the caller's memory any more, and
// tells other ranks that their messages did not match.
func (e *Endpoint) abort() {
	for _, peer := range e.Touched {
		l := &e.links[peer]
		if l.Partner.Refusal != nil {
			l.unsaid, l.Partner.Refusal = append(l.unsaid, l.Partner.Refusal...), nil
			e.flush(l)
		}
		if l.inFlight() != [2]*known{} {
			l.cut()
			l.Fail(l.Died("the link was given up with a message on its way"))
		}
	}
	e.awaitFlush()
	for _, peer := range e.Touched {
		e.known.withdraw(e.links[peer].inFlight())
	}
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
	for _, peer := range e.Touched {
		if l := &e.links[peer]; !l.gone() && l.unended() > 0 {
			return false
		}
	}
	return true
}

// Fail has the Exchange in progress, and every later one, return err. The first error counts, that of Close included.
// Other ranks do not hear of it.
func (e *Endpoint) Fail(err error) {
	if e.End.Fail(err) {
		e.rails.wake()
	}
}

// Close leaves: a rank that waits for this one gets *wire.PeerError with this rank and wire.ErrClosed, and an Exchange
// of this rank wire.ErrClosed. What was sent still arrives, if the other ranks take it soon.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if e.End.Close() { // an Exchange in progress releases everything otherwise
		e.release()
	}
	return nil
}
