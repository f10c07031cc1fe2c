package exec

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Point-to-point calls that begin together: all their messages are in flight in one Exchange, so that none waits for
// another to end.

// Enlist adds calls to those to make together.
func (e *Executor) Enlist(calls ...Request) { e.Group = append(e.Group, calls...) }

// RunTogether makes the enlisted calls, and returns the number of the first one. Its error is the bare cause, which is
// the same for all of them.
func (e *Executor) RunTogether(ctx context.Context) (seq uint64, err error) {
	x := &e.Call
	e.descs = slices.Grow(e.descs[:0], len(e.Group))[:len(e.Group)]
	err = e.listAll(ctx)
	if err == nil && e.Transport != nil {
		e.EventLog.step()
		err = e.Transport.Exchange(ctx, x.sends, x.recvs)
		e.EventLog.done(err)
	}
	x.running = false
	if err == nil {
		e.ended()
	}
	return e.descs[0].Seq, err
}

// EndTogether says that all calls that were posted are over.
func (e *Executor) EndTogether() {
	e.EventLog.done(nil)
	e.EventLog.End(nil)
}

// listAll lists the messages of the calls.
func (e *Executor) listAll(ctx context.Context) error {
	e.Call.together = true
	defer func() { e.Call.together = false }()
	for i := range e.Group {
		if err := e.list(ctx, &e.Group[i], &e.descs[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// list lists the message of a call, with d, the call that it belongs to. A message of a rank to itself is copied. If
// posted is not nil, the flight recorder has the call end by itself, and its number is in posted then.
func (e *Executor) list(ctx context.Context, r *Request, d *wire.Call, posted *uint64) error {
	x := &e.Call
	if r.Args.Root == r.Args.Peer {
		copy(r.Dst, r.Src)
		d.Seq = 0
		return nil
	}
	made := e.counter(r)
	*made++
	*d = r.desc
	d.Seq = *made
	mark := wire.MarkOf(d, r.hash)
	x.begin(r, r.Src, mark)
	sends, recvs := len(x.sends), len(x.recvs)
	if err := r.Algorithm.Run(ctx, x); err != nil {
		return err
	}
	if posted == nil {
		x.record()
	} else if e.Recorder != nil {
		*posted = e.Recorder.Post(x.prepared, d.Seq, x.bytes())
	}
	for i := range x.sends[sends:] {
		x.sends[sends+i].Call = d
	}
	for i := range x.recvs[recvs:] {
		x.recvs[recvs+i].Call = d
	}
	e.EventLog.begin(x)
	e.EventLog.list(x, sends, recvs)
	if len(x.sends) == sends && len(x.recvs) == recvs { // announce it nevertheless, as Call.announce does
		e.Transport.Begin(mark)
	}
	return nil
}

// NumberOf returns the number of the call enlisted at that index, or 0 for a message of a rank to itself.
func (e *Executor) NumberOf(at int) uint64 { return e.descs[at].Seq }

// ForgetGroup drops the enlisted calls and their memory.
func (e *Executor) ForgetGroup() {
	clear(e.Group)
	e.Group = e.Group[:0]
}
