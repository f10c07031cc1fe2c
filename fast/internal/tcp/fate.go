package tcp

import "github.com/collgen/collgen/fast/internal/wire"

// enter begins an Exchange, unless there can be none any more.
func (e *Endpoint) enter() error {
	err := e.End.Enter()
	if err == nil {
		exchanges.Add(1)
	}
	return err
}

// leave ends the Exchange, also after the panic of a kernel; and everything, if that was ended meanwhile.
func (e *Endpoint) leave() {
	exchanges.Add(-1)
	if e.Open > 0 {
		for _, peer := range e.Touched {
			l := &e.links[peer]
			l.settle()
			e.tell(l)
		}
	}
	e.Clear()
	if e.End.Leave() {
		e.release()
	}
}

// tell sends what the other rank of l is to know about the failure of this one, if the socket takes it.
func (e *Endpoint) tell(l *link) {
	if l.Partner.Refusal == nil || l.socket == nil {
		return
	}
	l.out.pending, l.Partner.Refusal = append(l.out.pending, l.Partner.Refusal...), nil
	l.out.flush(l.socket)
}

// Fail has the Exchange in progress, and every later one, return err. The first error counts, that of Close included.
// Other ranks do not hear of it.
func (e *Endpoint) Fail(err error) {
	if e.End.Fail(err) {
		e.poller.wake()
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
