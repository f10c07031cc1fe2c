package exec

import (
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
