package fast

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Point-to-point calls that begin together: all of their messages are in flight in one Exchange, so that none has to
// wait for another's end.

// enlist adds calls to those that are to be made together.
func (e *executor) enlist(calls ...request) { e.group = append(e.group, calls...) }

// runTogether makes the calls that were enlisted, and returns the number of the first one. Its error is the cause
// alone, which is the same for all of them.
func (e *executor) runTogether(ctx context.Context) (seq uint64, err error) {
	x := &e.call
	e.descs = slices.Grow(e.descs[:0], len(e.group))[:len(e.group)]
	err = e.listAll(ctx)
	if err == nil && e.transport != nil {
		e.eventLog.step()
		err = e.transport.Exchange(ctx, x.sends, x.recvs)
		e.eventLog.done(err)
	}
	x.running = false
	if err == nil {
		e.ended()
	}
	return e.descs[0].Seq, err
}

// listAll lists the messages of the calls.
func (e *executor) listAll(ctx context.Context) error {
	e.call.together = true
	defer func() { e.call.together = false }()
	for i := range e.group {
		if err := e.list(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// list lists the message of one of the calls, of which each says which call it belongs to. What a rank sends to itself
// is copied.
func (e *executor) list(ctx context.Context, at int) error {
	r, d, x := &e.group[at], &e.descs[at], &e.call
	if r.args.Root == r.args.Peer {
		copy(r.dst, r.src)
		d.Seq = 0
		return nil
	}
	made := e.counter(r)
	*made++
	*d = r.describe()
	d.Seq = *made
	x.begin(r, r.src, *made)
	sends, recvs := len(x.sends), len(x.recvs)
	if err := r.a.Run(ctx, x); err != nil {
		return err
	}
	x.record()
	for i := range x.sends[sends:] {
		x.sends[sends+i].Call = d
	}
	for i := range x.recvs[recvs:] {
		x.recvs[recvs+i].Call = d
	}
	e.eventLog.begin(x, wire.NewMark(d))
	e.eventLog.list(x, sends, recvs)
	if len(x.sends) == sends && len(x.recvs) == recvs { // announced all the same, as by Call.announce
		e.transport.Begin(wire.NewMark(d))
	}
	return nil
}

// numberOf returns the number of the call that was enlisted at that place, 0 if a rank sends to itself.
func (e *executor) numberOf(at int) uint64 { return e.descs[at].Seq }

// forgetGroup forgets the calls that were enlisted, and their memory.
func (e *executor) forgetGroup() {
	clear(e.group)
	e.group = e.group[:0]
}
