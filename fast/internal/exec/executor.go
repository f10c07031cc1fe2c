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

	last          Request // the call that is to be made, or was made last; started ones are copied from it
	forms         uint64  // that were prepared without options so far
	described     Form    // that of desc
	describedForm uint64  // its number; 0: it has none
	Desc          wire.Call
	Mark          wire.Mark // of desc
	Call          Call
	Calls         uint64      // made so far by all ranks together
	series        wire.Series // of these
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
}

// Request returns the call of k with these arguments, with its algorithm, or what is wrong with them. The call is valid
// until the next one.
func (e *Executor) Request(k *Collective, t spec.Type, args *Args, dst, src []byte, opts []Option) (*Request, error) {
	r := &e.last
	if r.known == 0 || len(opts) > 0 || r.Collective != k || r.Type != t || !r.Args.same(args) {
		r.known, r.Collective, r.Type = 0, k, t
		r.Args.set(args)
		r.fused = fusedOf(opts)
		if err := e.Prepare(r, opts); err != nil {
			return nil, err
		}
	}
	r.Dst, r.Src = dst, src
	return r, r.checkOverlap()
}

// ForgetBuffers lets the buffers of the last request be collected.
func (e *Executor) ForgetBuffers() { e.last.Dst, e.last.Src = nil, nil }

// Prepare checks the arguments, but not the buffers, and chooses the algorithm.
func (e *Executor) Prepare(r *Request, opts []Option) error {
	if err := e.check(r); err != nil {
		return err
	}
	var err error
	if r.Algorithm, r.Depth, err = e.Plan(r.Collective, r.Args.Count, r.Args.Count*r.Type.Bytes(), r.Args.Op, opts); err != nil {
		return err
	}
	if len(opts) == 0 {
		e.forms++
		r.known = e.forms
	}
	return nil
}

// check returns what is wrong with the arguments, whatever the buffers are.
func (e *Executor) check(r *Request) error {
	k, args := r.Collective, &r.Args
	bytes, root, peer := r.Type.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return wire.Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Valid():
		return wire.Refuse(k.Name, "%v is none of the ops", args.Op)
	case k.Reduces && !args.Op.Takes(r.Type):
		return wire.Refuse(k.Name, "op %v is not defined on %v", args.Op, r.Type)
	case args.Root < 0 || args.Root >= e.size:
		return wire.Refuse(k.Name, "%s is %d, want a rank of %d", root, args.Root, e.size)
	case args.Peer < 0 || args.Peer >= e.size:
		return wire.Refuse(k.Name, "%s is %d, want a rank of %d", peer, args.Peer, e.size)
	case k.PointToPoint && args.Root == args.Peer:
		return wire.Refuse(k.Name, "rank %d cannot exchange messages with itself", args.Root)
	case k.PointToPoint && args.Root != e.rank && args.Peer != e.rank:
		return wire.Refuse(k.Name, "rank %d takes no part in it", e.rank)
	}
	return nil
}

// Run makes the call r, and returns its number. Until reset, the executor keeps what the caller's memory is for.
func (e *Executor) Run(ctx context.Context, r *Request) (seq uint64, err error) {
	src := r.Src
	if r.Algorithm.OutOfPlace && Overlap(r.Dst, src) {
		src = e.Staged.Need(len(src))
		copy(src, r.Src)
	}
	made := e.counter(r)
	seq = *made + 1
	e.Describe(r, seq)
	e.Call.begin(r, src, seq)
	e.EventLog.begin(&e.Call, e.Mark)
	err = r.Algorithm.Run(ctx, &e.Call)
	if err == nil {
		err = e.Call.conclude(ctx)
	}
	e.Call.running = false
	if err != nil {
		return seq, err
	}
	e.ended()
	*made = seq
	if !r.Collective.PointToPoint {
		e.series = e.series.Then(e.Mark.Form)
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

// Describe has e.desc say of r what the other ranks compare with theirs.
func (e *Executor) Describe(r *Request, seq uint64) {
	if r.known == 0 || r.known != e.describedForm { // most calls are like the one before
		if e.described != r.Form {
			e.described, e.Desc = r.Form, r.Describe()
			e.Mark = wire.NewMark(&e.Desc)
		}
		e.describedForm = r.known
	}
	var before uint32
	if !r.Collective.PointToPoint {
		before = e.series.Before()
	}
	e.Mark.Renumber(seq, before)
}

// begin prepares x for the algorithm of r, call number seq, whose input is src.
func (x *Call) begin(r *Request, src []byte, seq uint64) {
	if r.known == 0 || r.known != x.known { // it is not like the call before
		x.take(r)
	}
	x.In.Data, x.Out.Data, x.form, x.seq = src, r.Dst, &r.Form, seq
	x.Begun, x.running = false, true
}

// take prepares x for calls of r's form.
func (x *Call) take(r *Request) {
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.Executor.rank, x.Executor.size, r.Args.Root, r.Args.Peer, r.Depth
	x.known, x.Collective, x.Algorithm, x.Count, x.Op, x.Elem = r.known, r.Collective, r.Algorithm, r.Args.Count, r.Args.Op, r.Type
	x.Kernel, x.Many = nil, nil
	if r.Collective.Reduces {
		x.Kernel, x.Many = kernel.For(r.Args.Op, r.Type), kernel.ManyFor(r.Args.Op, r.Type)
	}
}
