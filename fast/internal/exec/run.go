package exec

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Request returns the call of k with these arguments, prepared, or an error if they are invalid. The result is valid
// until the next Request. Uneven is nil if blocks are equally long; otherwise AliasIn and AliasOut of args are numbers
// of blocks.
func (e *Executor) Request(k *Collective, t spec.Type, args *Args, dst, src []byte, uneven *BlocksOf,
	opts []Option) (*Request, error) {
	if uneven != nil || k.Uneven {
		return e.requestUneven(k, t, args, dst, src, uneven, opts)
	}
	r := e.latest
	if len(opts) > 0 || r == nil || !r.isFor(k, t, args) {
		var err error
		if r, err = e.other(k, t, args, opts); err != nil {
			return nil, err
		}
	}
	e.current = r
	r.Dst, r.Src, r.blocks = dst, src, nil
	r.factor, r.scaled = factorOf(opts)
	if r.clear(dst, src) {
		return r, nil
	}
	return r, r.checkOverlap()
}

// other returns the call of k, prepared, which is not the latest one without options.
func (e *Executor) other(k *Collective, t spec.Type, args *Args, opts []Option) (*Request, error) {
	place := &e.last
	if len(opts) == 0 {
		for _, r := range e.recent {
			if r != nil && r.isFor(k, t, args) {
				e.latest = r
				return r, nil
			}
		}
		e.evicted = (e.evicted + 1) % len(e.recent)
		place = &e.recent[e.evicted]
		e.latest = requestAt(place)
	}
	r := requestAt(place)
	form := Form{Collective: k, Type: t, Args: *args, lengths: fusedOf(opts), part: partOf(opts)}
	return r, e.prepare(&r.Prepared, &form, opts)
}

// requestAt returns the request at a place, which is made when it is first needed.
func requestAt(place **Request) *Request {
	if *place == nil {
		*place = new(Request)
	}
	return *place
}

// requestUneven is Request for a collective of uneven blocks.
func (e *Executor) requestUneven(k *Collective, t spec.Type, args *Args, dst, src []byte, uneven *BlocksOf,
	opts []Option) (*Request, error) {
	if uneven == nil || !k.Uneven {
		return nil, wire.Refuse(k.Name, "its blocks are uneven: %t; the call says how long they are: %t", k.Uneven,
			uneven != nil)
	}
	r, b := requestAt(&e.last), &e.blocks
	e.current = r
	if len(opts) == 0 && r.blocks == b && r.generation != 0 && !r.withOpts && r.Collective == k && r.Type == t &&
		b.placedBy.isFor(args, dst, src, uneven) { // the same call as the one before
		r.Dst, r.Src, r.scaled = dst, src, false
		return r, r.checkOverlap()
	}
	r.blocks = nil
	is, counts, err := b.placed(k, t.Bytes(), args, dst, src, uneven)
	if err != nil {
		return nil, err
	}
	if len(opts) > 0 || !r.isFor(k, t, &is) || r.lengths.hash != hashOf(counts) {
		form := Form{Collective: k, Type: t, Args: is, part: partOf(opts)}
		for _, n := range counts {
			form.lengths.Add(n)
		}
		if err := e.prepare(&r.Prepared, &form, opts); err != nil {
			return nil, err
		}
	}
	b.placedBy.keep(args, dst, src, uneven)
	r.Dst, r.Src, r.blocks = dst, src, b
	r.factor, r.scaled = factorOf(opts)
	return r, r.checkOverlap()
}

// ForgetBuffers lets the buffers of the last request be collected.
func (e *Executor) ForgetBuffers() {
	if e.current != nil {
		e.current.Dst, e.current.Src = nil, nil
	}
}

// Prepare prepares p anew, as the call of its collective with its arguments and these options.
func (e *Executor) Prepare(p *Prepared, opts []Option) error {
	form := Form{Collective: p.Collective, Type: p.Type, Args: p.Args}
	return e.prepare(p, &form, opts)
}

// prepare makes p the call of that form, and chooses its algorithm and depth. After an error p is unchanged.
func (e *Executor) prepare(p *Prepared, form *Form, opts []Option) (err error) {
	form.kind = kindOf(form.Args.Op, form.Type, opts, e.Reproducible)
	var ok bool
	if form.label, ok = labelOf(opts); !ok {
		return badLabel(form.Collective)
	}
	if err := e.check(form, opts); err != nil {
		return err
	}
	count := form.Args.Count
	if form.Collective.Uneven { // rules see what a block has on average
		count = (count + e.size - 1) / e.size
	}
	if form.Algorithm, form.Depth, err = e.Plan(form.Collective, count, count*form.Type.Bytes(), form.Args.Op,
		form.Type, opts); err != nil {
		return err
	}
	form.Local = 0
	if form.Algorithm.Local {
		form.Local = e.Local
	}
	p.withOpts = len(opts) > 0
	if p.generation != 0 && p.Form == *form {
		return nil
	}
	e.generations++
	p.Form, p.generation, p.desc = *form, e.generations, form.Describe()
	p.hash = p.desc.Form()
	return nil
}

// check returns an error if the arguments are invalid. It does not look at the buffers.
func (e *Executor) check(f *Form, opts []Option) error {
	k, args := f.Collective, &f.Args
	bytes, root, peer := f.Type.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return wire.Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Valid() && !args.Op.Declared():
		return wire.Refuse(k.Name, "%v is none of the ops", args.Op)
	case k.Reduces && !args.Op.Takes(f.Type):
		return wire.Refuse(k.Name, "op %v is not defined on %v", args.Op, f.Type)
	case k.Reduces && args.Op.Declared() && kernel.For(args.Op, f.Type) == nil:
		return wire.Refuse(k.Name, "op %v was declared without a function: NewOp takes one", args.Op)
	case f.kind == atOnce && f.part != (Part{}):
		return wire.Refuse(k.Name, "a sum of sums is not reproducible: make the call on one communicator of all ranks")
	case k.Reduces && (args.Op == spec.OpProd || args.Op.Declared()) && kernel.ExactFor(f.Type) != nil &&
		(e.Reproducible || has(opts, ReproducibleOption)):
		return wire.Refuse(k.Name, "op %v on %v is not reproducible", args.Op, f.Type)
	case has(opts, FactorOption) && (!k.Reduces || args.Op != spec.OpSum && args.Op != spec.OpAvg ||
		!kernel.Scales(f.Type)):
		return badFactor(k)
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

// CheckCopy returns an error if opts are wrong for a call of k in which a rank sends to itself. No algorithm carries it
// out.
func (e *Executor) CheckCopy(k *Collective, opts []Option) error {
	if _, ok := labelOf(opts); !ok {
		return badLabel(k)
	}
	if has(opts, FactorOption) {
		return badFactor(k)
	}
	for i := range opts {
		if opts[i].Kind == AlgorithmOption {
			if _, err := e.planFor(k).algorithm(opts[i].Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func badLabel(k *Collective) error {
	return wire.Refuse(k.Name, "a label is not 1 to %d printable ASCII characters", MaxLabel)
}

func badFactor(k *Collective) error {
	return wire.Refuse(k.Name, "a factor is for Sum and Avg of floats and complex numbers")
}

// Run makes the call r and returns its number. The executor refers to the caller's memory until Reset.
func (e *Executor) Run(ctx context.Context, r *Request) (seq uint64, err error) {
	src := r.Src
	switch {
	case r.scaled:
		src = e.Staged.Need(len(src))
		kernel.Scale(r.Type, src, r.Src, r.factor)
	case r.Algorithm.OutOfPlace && r.shares():
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
	if err = r.Algorithm.Run(ctx, x); err == nil && !x.Begun {
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

// begin prepares x for the algorithm of r, with input src. The mark has the call's number.
func (x *Call) begin(r *Request, src []byte, mark wire.Mark) {
	if x.generation != r.generation {
		x.take(&r.Prepared)
	}
	x.In.Data, x.Out.Data, x.prepared, x.mark = src, r.Dst, &r.Prepared, mark
	x.Begun, x.running = false, true
	if r.blocks != nil {
		x.blocks, x.In.blocks, x.Out.blocks = r.blocks, r.blocks.src, r.blocks.dst
	}
}

// take prepares x for p.
func (x *Call) take(p *Prepared) {
	x.generation, x.Cuts = p.generation, Cuts{}
	x.blocks, x.In.blocks, x.Out.blocks = nil, nil, nil
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.Executor.rank, x.Executor.size, p.Args.Root, p.Args.Peer, p.Depth
	x.Local, x.Param = p.Local, p.Algorithm.Param
	x.Collective, x.Algorithm, x.Count, x.Op, x.Elem = p.Collective, p.Algorithm, p.Args.Count, p.Args.Op, p.Type
	x.Kernel, x.Many = nil, nil
	if p.Collective.Reduces {
		x.Kernel, x.Many = kernel.For(p.Args.Op, p.Type), kernel.ManyFor(p.Args.Op, p.Type)
	}
	if p.kind == atOnce {
		x.Many = kernel.ExactFor(p.Type)
	}
}

// ended reports to the recorder and the event log that the calls in progress have ended without an error.
func (e *Executor) ended() {
	if e.Recorder != nil {
		e.Recorder.End()
	}
	e.EventLog.End(nil)
}

// Withdrawn reports whether err is from a call that has done nothing, because its Layout failed.
func (e *Executor) Withdrawn(err error) bool {
	return errors.Is(err, wire.ErrInvalidArgument) && !e.Call.Begun
}

// Interrupted reports whether the call in progress has panicked. If so, it tells the flight recorder about the call.
func (e *Executor) Interrupted() bool {
	if !e.Call.running {
		return false
	}
	e.Call.running = false
	e.Call.record()
	return true
}

// RecordCall tells the flight recorder about the call in progress, if there is one, unless it knows already.
func (e *Executor) RecordCall() {
	if e.Call.prepared != nil {
		e.Call.record()
	}
}

// Reset ends the calls in progress: what they have received as bools is some, and all references to the caller's memory
// are dropped.
func (e *Executor) Reset() {
	if e.Call.Elem == spec.TypeBool || len(e.Group) > 0 {
		e.tidy()
	}
	e.Call.reset()
}

// counter returns the counter of the calls made so far among the ranks of r: all ranks, or a sender and a receiver.
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

// HasMade reports whether this rank, which is not in a call, has already made its part of a call that other is in.
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
