package linkbase

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Post puts messages in flight beside those posted before.
func (e *Endpoint) Post(sends []wire.Send, recvs []wire.Recv) error {
	if e.Open == 0 {
		if err := e.End.Enter(); err != nil {
			return err
		}
		if e.Lent > 0 {
			e.hooks.Reclaim()
		}
	}
	err := e.start(sends, recvs)
	if err != nil || e.Open == 0 {
		e.leave()
	}
	return e.End.Outcome(err)
}

// Progress moves the posted messages until one is over, Nudge is called, or until has ended.
func (e *Endpoint) Progress(ctx, until context.Context) error {
	if e.Open == 0 {
		return e.End.Reason()
	}
	goes := false
	e.until = until
	defer func() {
		e.until = nil
		if !goes || e.Open == 0 { // also if a kernel panics
			e.leave()
		}
	}()
	err := e.End.Reason()
	if err == nil {
		err = e.complete(ctx, e.Open-1)
	}
	if err != nil {
		return e.End.Outcome(err)
	}
	goes = true
	e.nudged.Store(false)
	e.reap()
	return nil
}

// Nudge ends the Progress that runs, or the next one.
func (e *Endpoint) Nudge() {
	e.nudged.Store(true)
	e.hooks.Wake()
}

// Leaves reports whether a Progress is to end, although nothing may be over. The goroutine in it calls it.
func (e *Endpoint) Leaves() bool {
	return e.until != nil && (e.nudged.Load() || e.until.Err() != nil)
}

// reap drops the messages that are over, and the links that have no others.
func (e *Endpoint) reap() {
	for _, peer := range e.Peers {
		e.links[peer].reap()
	}
	for i := 0; i < len(e.Active); i = e.next(i) {
	}
	e.Peers = append(e.Peers[:0], e.Active...)
}

// reap drops the messages of l that are over.
func (l *Link) reap() {
	for i := range l.sends[:l.sent] {
		l.sends[i].Over = true
	}
	for i := range l.recvs[:l.taken] {
		l.recvs[i].Over = true
	}
	l.sends, l.recvs = slices.Delete(l.sends, 0, l.sent), slices.Delete(l.recvs, 0, l.taken)
	l.sent, l.taken = 0, 0
}
