// Package exec makes the calls of one rank on one communicator: it checks their arguments, chooses an algorithm from
// the selection table, and runs its generated code, which lists messages and has them exchanged by the transport.
package exec

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Executor makes the calls of one rank on one communicator, one at a time: it checks their arguments, chooses
// algorithms, and runs these. What it keeps of a call serves the next one, which is mostly the same again.
type Executor struct {
	rank, size int
	Transport  transport.Transport                  // nil: this is the only rank
	Carrier    string                               // how the ranks talk, in the words of rules
	PerHost    int                                  // how many of them are on the host that has the most; 0: all
	Tuning     func(k *Collective) []selection.Rule // the rules before the built-in ones; nil: none
	Recorder   Recorder                             // the flight recorder; nil: none
	EventLog   *EventLog                            // nil: nothing is written down

	last        Request // the call that is to be made, or was made last; started ones are copied from it
	generations uint64  // of calls that were prepared so far
	Call        Call
	Calls       uint64      // made so far by all ranks together
	series      wire.Series // of these
	// Point-to-point calls made so far with each rank; nil before the first.
	sent, received         []uint64
	Group                  []Request // point-to-point calls that are made together
	descs                  []wire.Call
	scratch, Staged, spare memory
	Plans                  plans
}

// Recorder is what an executor tells of its calls.
type Recorder interface {
	Begin(f *Form, seq uint64) // a call of that form and number begins, together with those that began since the last end
	End()                      // they are over, without an error
}

// SetUp prepares e for the calls of a rank among size over t, which is nil where there is only one.
func (e *Executor) SetUp(rank, size int, t transport.Transport) {
	e.rank, e.size, e.Transport = rank, size, t
	x := &e.Call
	x.Executor, x.In.Cuts, x.Out.Cuts, x.Scratch.Cuts = e, &x.Cuts, &x.Cuts, &x.Cuts
	x.mark = wire.NewMark(new(wire.Call))
}

// Request returns the call of k with these arguments, prepared, or what is wrong with them. It is valid until the next
// one.
func (e *Executor) Request(k *Collective, t spec.Type, args *Args, dst, src []byte, opts []Option) (*Request, error) {
	r := &e.last
	if len(opts) > 0 || !r.isFor(k, t, args) {
		form := Form{Collective: k, Type: t, Args: *args, fused: fusedOf(opts)}
		if err := e.prepare(&r.Prepared, &form, opts); err != nil {
			return nil, err
		}
	}
	r.Dst, r.Src = dst, src
	return r, r.checkOverlap()
}

// ForgetBuffers lets the buffers of the last request be collected.
func (e *Executor) ForgetBuffers() { e.last.Dst, e.last.Src = nil, nil }

// Run makes the call r, and returns its number. Until reset, the executor keeps what the caller's memory is for.
func (e *Executor) Run(ctx context.Context, r *Request) (seq uint64, err error) {
	src := r.Src
	if r.Algorithm.OutOfPlace && Overlap(r.Dst, src) {
		src = e.Staged.Need(len(src))
		copy(src, r.Src)
	}
	made := e.counter(r)
	seq = *made + 1
	r.desc.Seq = seq
	if !r.Collective.PointToPoint {
		r.desc.Before = e.series.Before()
	}
	x := &e.Call
	x.begin(r, src, wire.MarkOf(&r.desc, r.hash))
	e.EventLog.begin(x)
	if err = r.Algorithm.Run(ctx, x); err == nil {
		err = x.conclude(ctx)
	}
	x.running = false
	if err != nil {
		return seq, err
	}
	e.ended()
	*made = seq
	if !r.Collective.PointToPoint {
		e.series = e.series.Then(x.mark.Form)
	}
	return seq, nil
}

// ended tells that the calls in progress are over, without an error.
func (e *Executor) ended() {
	if e.Recorder != nil {
		e.Recorder.End()
	}
	e.EventLog.End(nil)
}

// Withdrawn reports whether err is that of a call which has done nothing: its algorithm could not be laid out.
func (e *Executor) Withdrawn(err error) bool {
	return errors.Is(err, wire.ErrInvalidArgument) && !e.Call.Begun
}

// Interrupted reports whether the call in progress has panicked, and has the flight recorder know of it.
func (e *Executor) Interrupted() bool {
	if !e.Call.running {
		return false
	}
	e.Call.running = false
	e.Call.record()
	return true
}

// counter returns the number of calls that were made so far among the ranks of this one: all of them, or a sender and a
// receiver.
func (e *Executor) counter(r *Request) *uint64 {
	if !r.Collective.PointToPoint {
		return &e.Calls
	}
	if e.sent == nil {
		e.sent, e.received = make([]uint64, e.size), make([]uint64, e.size)
	}
	if e.rank == r.Args.Root {
		return &e.sent[r.Args.Peer]
	}
	return &e.received[r.Args.Root]
}

// HasMade reports whether this rank, which makes no calls now, has made its part of a call in which another one is.
func (e *Executor) HasMade(x *wire.Call, other int) bool {
	switch {
	case x.Peer == 0:
		return e.Calls >= x.Seq
	case !x.IsBetween(e.rank, other):
		return true
	case e.sent == nil:
		return false
	case int(x.Root) == e.rank:
		return e.sent[other] >= x.Seq
	}
	return e.received[other] >= x.Seq
}

// begin prepares x for the algorithm of r, whose input is src and whose mark says its number.
func (x *Call) begin(r *Request, src []byte, mark wire.Mark) {
	if x.generation != r.generation {
		x.take(&r.Prepared)
	}
	x.In.Data, x.Out.Data, x.form, x.mark = src, r.Dst, &r.Form, mark
	x.Begun, x.running = false, true
}

// take prepares x for p.
func (x *Call) take(p *Prepared) {
	x.generation, x.Cuts.Chunks = p.generation, 0
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.Executor.rank, x.Executor.size, p.Args.Root, p.Args.Peer, p.Depth
	x.Collective, x.Algorithm, x.Count, x.Op, x.Elem = p.Collective, p.Algorithm, p.Args.Count, p.Args.Op, p.Type
	x.Kernel, x.Many = nil, nil
	if p.Collective.Reduces {
		x.Kernel, x.Many = kernel.For(p.Args.Op, p.Type), kernel.ManyFor(p.Args.Op, p.Type)
	}
}
