package tcp

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// fate is what every Exchange returns from now on.
type fate struct{ err error }

// enter begins an Exchange, unless there can be none any more.
func (e *Endpoint) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.fate.Load(); f != nil {
		return f.err
	}
	e.busy = true
	exchanges.Add(1)
	return nil
}

// leave ends the Exchange, also after the panic of a kernel; and everything, if that was ended meanwhile.
func (e *Endpoint) leave() {
	exchanges.Add(-1)
	e.show(e.open > 0)
	if e.open > 0 {
		for _, l := range e.touched {
			l.settle()
			e.tell(l)
		}
	}
	e.forget()
	e.mu.Lock()
	e.busy = false
	ended := e.ended
	e.mu.Unlock()
	if ended {
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
	if e.fate.CompareAndSwap(nil, &fate{err}) {
		e.poller.wake()
	}
}

// Close leaves: a rank that waits for this one gets *wire.PeerError with this rank and wire.ErrClosed, and an Exchange
// of this rank wire.ErrClosed. What was sent still arrives, if the other ranks take it soon.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	e.mu.Lock()
	first := !e.ended
	e.ended = true
	busy := e.busy
	e.mu.Unlock()
	if first && !busy { // an Exchange in progress releases everything
		e.release()
	}
	return nil
}

// failure is the reason to wait no longer, if there is one.
func (e *Endpoint) failure(ctx context.Context) error {
	if f := e.fate.Load(); f != nil {
		return f.err
	}
	if e.doom != nil {
		return e.doom
	}
	if ctx.Err() != nil {
		return wire.Timeout(ctx, e.appendWaiting(nil))
	}
	return nil
}

// appendWaiting appends the ranks of all messages that are not complete, in ascending order.
func (e *Endpoint) appendWaiting(ranks []int) []int {
	for _, l := range e.active {
		ranks = append(ranks, l.peer)
	}
	slices.Sort(ranks)
	return ranks
}

// Waiting are the ranks that the Exchange in progress has been waiting for for a while, or that one was waiting for when it
// failed, in ascending order.
func (e *Endpoint) Waiting() []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.waits)
}

// show has Waiting give the ranks that are waited for, or none.
func (e *Endpoint) show(waiting bool) {
	if !waiting && !e.shown {
		return
	}
	e.mu.Lock()
	e.waits, e.shown = e.waits[:0], waiting
	if waiting {
		e.waits = e.appendWaiting(e.waits)
	}
	e.mu.Unlock()
}
