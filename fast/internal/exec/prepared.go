package exec

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Request is a call that is to be made: a prepared one, and its buffers.
type Request struct {
	Prepared
	Dst, Src []byte
}

// NewRequest returns a call that is yet to be prepared.
func NewRequest(k *Collective, t spec.Type, args Args, dst, src []byte) *Request {
	return &Request{Prepared{Form: Form{Collective: k, Type: t, Args: args}}, dst, src}
}

// Prepared is a call that was checked and has its algorithm, as a persistent collective of MPI: it can be made again and
// again, with other buffers. An executor keeps the one that was prepared last, because programs repeat their calls. Who
// keeps anything that follows from the call compares generations.
type Prepared struct {
	Form
	generation uint64    // is another one whenever the form changes; 0: it is not prepared
	withOpts   bool      // it depends on options, which are not in the form
	desc       wire.Call // what the other ranks compare with theirs, but for its place in the order of calls
	hash       uint64    // of desc: wire.Call.Form
}

// Form is what all ranks agree on, and the kernel, algorithm and depth that follow.
type Form struct {
	Collective *Collective
	Type       spec.Type
	Args       Args
	fused      Fused
	Algorithm  *Algorithm
	Depth      int
}

// isFor reports whether p is the call of k with these arguments, and without options.
func (p *Prepared) isFor(k *Collective, t spec.Type, args *Args) bool {
	return p.generation != 0 && !p.withOpts && p.Collective == k && p.Type == t && p.Args.same(args)
}

// Prepare has p be the call of its collective with its arguments, but without its buffers, and with these options.
func (e *Executor) Prepare(p *Prepared, opts []Option) error {
	form := Form{Collective: p.Collective, Type: p.Type, Args: p.Args}
	return e.prepare(p, &form, opts)
}

// prepare has p be the call of that form, whose algorithm and depth it finds. After an error p is as before.
func (e *Executor) prepare(p *Prepared, form *Form, opts []Option) (err error) {
	if err := e.check(form); err != nil {
		return err
	}
	bytes := form.Args.Count * form.Type.Bytes()
	if form.Algorithm, form.Depth, err = e.Plan(form.Collective, form.Args.Count, bytes, form.Args.Op, opts); err != nil {
		return err
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

// check returns what is wrong with the arguments, whatever the buffers are.
func (e *Executor) check(f *Form) error {
	k, args := f.Collective, &f.Args
	bytes, root, peer := f.Type.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return wire.Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Valid():
		return wire.Refuse(k.Name, "%v is none of the ops", args.Op)
	case k.Reduces && !args.Op.Takes(f.Type):
		return wire.Refuse(k.Name, "op %v is not defined on %v", args.Op, f.Type)
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

// Describe returns all that the other ranks compare with theirs, but the call's number.
func (p *Form) Describe() wire.Call {
	d := wire.Call{Primitive: p.Collective.Hash, Schedule: p.Algorithm.Hash, Count: uint64(p.Args.Count), Type: uint32(p.Type),
		Root: uint32(p.Args.Root), Depth: uint32(p.Depth),
		PrimitiveName: wire.NewLabel(p.Collective.Name), AlgorithmName: wire.NewLabel(p.Algorithm.Name)}
	if p.Collective.PointToPoint {
		d.Peer = uint32(p.Args.Peer) + 1
	}
	if p.Collective.Reduces {
		d.Op = uint32(p.Args.Op) | p.fused.Mark()
	}
	if p.fused.n > 0 {
		d.PrimitiveName = p.fused.Label()
	}
	return d
}

// checkOverlap finds what is wrong with buffers that share memory.
func (r *Request) checkOverlap() error {
	switch {
	case !Overlap(r.Dst, r.Src):
	case r.Args.NoAlias:
		return wire.Refuse(r.Collective.Name, "dst and src overlap")
	case !r.Args.inPlace(r.Dst, r.Src, r.Type.Bytes()):
		return wire.Refuse(r.Collective.Name, "dst and src overlap, but src[%d] is not dst[%d]", r.Args.AliasIn, r.Args.AliasOut)
	}
	return nil
}

// Overlap reports whether x and y have memory in common.
func Overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := Address(x), Address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

// Address returns where the memory of s begins.
func Address(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }
