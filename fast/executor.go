package fast

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// executor makes the calls of one rank on one communicator, one at a time: it checks their arguments, chooses
// algorithms, and runs these. What it keeps of a call serves the next one, which is mostly the same again.
type executor struct {
	rank, size int
	transport  transport.Transport                  // nil: this is the only rank
	carrier    string                               // how the ranks talk, in the words of rules
	perHost    int                                  // how many of them are on the host that has the most; 0: all
	tuning     func(k *Collective) []selection.Rule // the rules before the built-in ones; nil: none
	recorder   callRecorder                         // the flight recorder; nil: none
	eventLog   *eventLog                            // nil: nothing is written down

	last          request // the call that is to be made, or was made last; started ones are copied from it
	forms         uint64  // that were prepared without options so far
	described     form    // that of desc
	describedForm uint64  // its number; 0: it has none
	desc          wire.Call
	mark          wire.Mark // of desc
	call          Call
	calls         uint64      // made so far by all ranks together
	series        wire.Series // of these
	// Point-to-point calls made so far with each rank; nil before the first.
	sent, received         []uint64
	group                  []request // point-to-point calls that are made together
	descs                  []wire.Call
	scratch, staged, spare memory
	plans                  plans
	idles                  bool // the transport has time for the recorder while it waits
}

// callRecorder is what an executor tells of its calls.
type callRecorder interface {
	begin(f *form, seq uint64) // a call of that form and number begins, together with those that began since the last end
	end()                      // they are over, without an error
}

// setUp prepares e for the calls of a rank among size over t, which is nil where there is only one.
func (e *executor) setUp(rank, size int, t transport.Transport) {
	e.rank, e.size, e.transport = rank, size, t
	x := &e.call
	x.e, x.In.cuts, x.Out.cuts, x.Scratch.cuts = e, &x.cuts, &x.cuts, &x.cuts
}

// request returns the call of k with these arguments, with its algorithm, or what is wrong with them. The call is valid
// until the next one.
func (e *executor) request(k *Collective, t spec.Type, args *Args, dst, src []byte, opts []Option) (*request, error) {
	r := &e.last
	if r.known == 0 || len(opts) > 0 || r.k != k || r.t != t || !r.args.same(args) {
		r.known, r.k, r.t = 0, k, t
		r.args.set(args)
		r.fused = fusedOf(opts)
		if err := e.prepare(r, opts); err != nil {
			return nil, err
		}
	}
	r.dst, r.src = dst, src
	return r, r.checkOverlap()
}

// forgetBuffers lets the buffers of the last request be collected.
func (e *executor) forgetBuffers() { e.last.dst, e.last.src = nil, nil }

// prepare checks the arguments, but not the buffers, and chooses the algorithm.
func (e *executor) prepare(r *request, opts []Option) error {
	if err := e.check(r); err != nil {
		return err
	}
	var err error
	if r.a, r.depth, err = e.plan(r.k, r.args.Count, r.args.Count*r.t.Bytes(), r.args.Op, opts); err != nil {
		return err
	}
	if len(opts) == 0 {
		e.forms++
		r.known = e.forms
	}
	return nil
}

// check returns what is wrong with the arguments, whatever the buffers are.
func (e *executor) check(r *request) error {
	k, args := r.k, &r.args
	bytes, root, peer := r.t.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return wire.Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Valid():
		return wire.Refuse(k.Name, "%v is none of the ops", args.Op)
	case k.Reduces && !args.Op.Takes(r.t):
		return wire.Refuse(k.Name, "op %v is not defined on %v", args.Op, r.t)
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

// run makes the call r, and returns its number. Until reset, the executor keeps what the caller's memory is for.
func (e *executor) run(ctx context.Context, r *request) (seq uint64, err error) {
	src := r.src
	if r.a.OutOfPlace && overlap(r.dst, src) {
		src = e.staged.need(len(src))
		copy(src, r.src)
	}
	made := e.counter(r)
	seq = *made + 1
	e.describe(r, seq)
	e.call.begin(r, src, seq)
	e.eventLog.begin(&e.call, e.mark)
	err = r.a.Run(ctx, &e.call)
	if err == nil {
		err = e.call.conclude(ctx)
	}
	e.call.running = false
	if err != nil {
		return seq, err
	}
	e.ended()
	*made = seq
	if !r.k.PointToPoint {
		e.series = e.series.Then(e.mark.Form)
	}
	return seq, nil
}

// ended tells that the calls in progress are over, without an error.
func (e *executor) ended() {
	if e.recorder != nil {
		e.recorder.end()
	}
	e.eventLog.end(nil)
}

// withdrawn reports whether err is that of a call which has done nothing: its algorithm could not be laid out.
func (e *executor) withdrawn(err error) bool {
	if !errors.Is(err, wire.ErrInvalidArgument) || e.call.begun {
		return false
	}
	e.call.unrecorded = false
	return true
}

// interrupted reports whether the call in progress has panicked, and has the flight recorder know of it.
func (e *executor) interrupted() bool {
	if !e.call.running {
		return false
	}
	e.call.running = false
	e.call.record()
	return true
}

// counter returns the number of calls that were made so far among the ranks of this one: all of them, or a sender and a
// receiver.
func (e *executor) counter(r *request) *uint64 {
	if !r.k.PointToPoint {
		return &e.calls
	}
	if e.sent == nil {
		e.sent, e.received = make([]uint64, e.size), make([]uint64, e.size)
	}
	if e.rank == r.args.Root {
		return &e.sent[r.args.Peer]
	}
	return &e.received[r.args.Root]
}

// hasMade reports whether this rank, which makes no calls now, has made its part of a call in which another one is.
func (e *executor) hasMade(x *wire.Call, other int) bool {
	switch {
	case x.Peer == 0:
		return e.calls >= x.Seq
	case !x.IsBetween(e.rank, other):
		return true
	case e.sent == nil:
		return false
	case int(x.Root) == e.rank:
		return e.sent[other] >= x.Seq
	}
	return e.received[other] >= x.Seq
}

// describe has e.desc say of r what the other ranks compare with theirs.
func (e *executor) describe(r *request, seq uint64) {
	if r.known == 0 || r.known != e.describedForm { // most calls are like the one before
		if e.described != r.form {
			e.described, e.desc = r.form, r.describe()
			e.mark = wire.NewMark(&e.desc)
		}
		e.describedForm = r.known
	}
	var before uint32
	if !r.k.PointToPoint {
		before = e.series.Before()
	}
	e.mark.Renumber(seq, before)
}

// begin prepares x for the algorithm of r, call number seq, whose input is src.
func (x *Call) begin(r *request, src []byte, seq uint64) {
	if r.known == 0 || r.known != x.known { // it is not like the call before
		x.take(r)
	}
	x.In.data, x.Out.data, x.form, x.seq = src, r.dst, &r.form, seq
	x.begun, x.unrecorded, x.running = false, true, true
}

// take prepares x for calls of r's form.
func (x *Call) take(r *request) {
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.e.rank, x.e.size, r.args.Root, r.args.Peer, r.depth
	x.known, x.k, x.a, x.count, x.op, x.elem = r.known, r.k, r.a, r.args.Count, r.args.Op, r.t
	x.kernel, x.many = nil, nil
	if r.k.Reduces {
		x.kernel, x.many = kernel.For(r.args.Op, r.t), kernel.ManyFor(r.args.Op, r.t)
	}
}
