package tcp

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// enter begins an Exchange, unless there can be none any more.
func (e *Endpoint) enter() error {
	err := e.end.Enter()
	if err == nil {
		exchanges.Add(1)
	}
	return err
}

// leave ends the Exchange, also after the panic of a kernel; and everything, if that was ended meanwhile.
func (e *Endpoint) leave() {
	exchanges.Add(-1)
	if e.open == 0 {
		e.awaited.Forget()
	} else {
		e.awaited.Tell(e.active)
		for _, peer := range e.touched {
			l := &e.links[peer]
			l.settle()
			e.tell(l)
		}
	}
	e.forget()
	if e.end.Leave() {
		e.release()
	}
}

// tell sends what the other rank of l is to know about the failure of this one, if the socket takes it.
func (e *Endpoint) tell(l *link) {
	if l.partner.Refusal == nil || l.socket == nil {
		return
	}
	l.out.pending, l.partner.Refusal = append(l.out.pending, l.partner.Refusal...), nil
	l.out.flush(l.socket)
}

// Fail has the Exchange in progress, and every later one, return err. The first error counts, that of Close included. Other
// ranks do not hear of it.
func (e *Endpoint) Fail(err error) {
	if e.end.Fail(err) {
		e.poller.wake()
	}
}

// Close leaves: a rank that waits for this one gets *wire.PeerError with this rank and wire.ErrClosed, and an Exchange
// of this rank wire.ErrClosed. What was sent still arrives, if the other ranks take it soon.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if e.end.Close() { // an Exchange in progress releases everything otherwise
		e.release()
	}
	return nil
}

// failure is the reason to wait no longer, if there is one.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.end.Reason(); err != nil || ctx.Err() == nil {
		return err
	}
	return wire.Timeout(ctx, slices.Sorted(slices.Values(e.active)))
}

// Waiting are the ranks that the Exchange in progress has been waiting for for a while, or that one was waiting for when it
// failed, in ascending order.
func (e *Endpoint) Waiting() []int { return e.awaited.Ranks() }
