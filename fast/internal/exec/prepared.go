package exec

import (
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Request is a call to make: a prepared call and its buffers.
type Request struct {
	Prepared
	Dst, Src []byte
	blocks   *blocks // where uneven ones lie; nil: they are equally long
	factor   float64 // what this rank's operands are multiplied by first, if scaled
	scaled   bool
}

// NewRequest returns a call that is yet to be prepared.
func NewRequest(k *Collective, t spec.Type, args Args, dst, src []byte) *Request {
	return &Request{Prepared: Prepared{Form: Form{Collective: k, Type: t, Args: args}}, Dst: dst, Src: src}
}

// Kept returns r for a time when its executor may have another request: with memory of its own for where blocks lie.
func (r *Request) Kept() Request {
	is := *r
	if r.blocks != nil {
		is.blocks = r.blocks.kept()
	}
	return is
}

// Prepared is a call whose arguments were checked and whose algorithm was chosen, like a persistent collective of MPI:
// it can be made repeatedly, with different buffers. An executor keeps the one prepared last, because programs repeat
// their calls. Anything cached for a call is valid for the same generation.
type Prepared struct {
	Form
	generation uint64    // changes whenever the form does; 0: not prepared
	withOpts   bool      // depends on options, which are not in the form
	desc       wire.Call // what ranks compare, except the call's place in the order of calls
	hash       uint64    // of desc: wire.Call.Form
}

// Form is what all ranks agree on, and the algorithm and depth that follow.
type Form struct {
	Collective *Collective
	Type       spec.Type
	Args       Args
	lengths    Lengths // of a Bucket's tensors, or of uneven blocks that all ranks know
	part       Part    // the operation of which it is a part; the zero Part: none
	label      string  // "": none
	kind       kind    // of its op
	Algorithm  *Algorithm
	Depth      int
	Local      int // ranks on each host, where they make a difference to the algorithm
}

// Generation returns a number that no other form of call of the same executor has, or 0 if p was not prepared.
func (p *Prepared) Generation() uint64 { return p.generation }

// isFor reports whether p is the call of k with these arguments, and without options.
func (p *Prepared) isFor(k *Collective, t spec.Type, args *Args) bool {
	return p.generation != 0 && !p.withOpts && p.Collective == k && p.Type == t && p.Args.same(args)
}

// Describe returns everything that ranks compare, except the call's place in the order of calls.
func (p *Form) Describe() wire.Call {
	d := wire.Call{Primitive: p.Collective.Hash, Schedule: p.Algorithm.Hash, Count: uint64(p.Args.Count),
		Type: uint32(p.Type),
		Root: uint32(p.Args.Root), Depth: uint32(p.Depth), Local: uint32(p.Local),
		PrimitiveName: wire.NewLabel(p.Collective.Name), AlgorithmName: wire.NewLabel(p.Algorithm.Name)}
	if p.Collective.PointToPoint {
		d.Peer = uint32(p.Args.Peer) + 1
	}
	if p.Collective.Reduces {
		d.Op = p.Op()
	}
	if d.Op |= p.lengths.Mark(); p.lengths.n > 0 {
		what := "Bucket"
		if p.Collective.Uneven {
			what = p.Collective.Name
		}
		d.PrimitiveName = p.lengths.Label(what)
	}
	p.describeDeclared(&d)
	p.part.describe(&d)
	p.describeLabel(&d)
	return d
}

// describeDeclared adds the name of an op that was declared to what ranks compare in a call, because its number may be
// another one on each rank, and that it is not commutative.
func (p *Form) describeDeclared(d *wire.Call) {
	if p.Collective.Reduces && p.Args.Op.Declared() {
		name := p.Args.Op.String()
		if !p.Args.Op.Commutative() {
			name += " in order"
		}
		d.Primitive = thenText(d.Primitive, name)
		d.SetText(append(append(printed(&d.PrimitiveName), ' '), name...))
	}
}

// Op returns the op as ranks compare it; wire.OpWords has it in words.
func (p *Form) Op() uint32 { return p.kind.mark(p.Args.Op) }

// shares reports whether dst and src have memory in common. What lies between uneven blocks is not of the call.
func (r *Request) shares() bool {
	return Overlap(r.Dst, r.Src) && (r.blocks == nil || r.blocks.share(r.Dst, r.Src))
}

// clear reports whether the buffers obviously may be used together: one of them is empty, or both begin at one place,
// which is permitted.
func (r *Request) clear(dst, src []byte) bool {
	return len(dst) == 0 || len(src) == 0 ||
		Address(dst) == Address(src) && r.Args.AliasIn == r.Args.AliasOut && !r.Args.NoAlias
}

// checkOverlap returns an error if the buffers share memory in a way that is not permitted.
func (r *Request) checkOverlap() error {
	switch {
	case !Overlap(r.Dst, r.Src), r.blocks != nil && !r.blocks.share(r.Dst, r.Src):
	case r.Args.NoAlias:
		return wire.Refuse(r.Collective.Name, "dst and src overlap")
	case !r.Args.inPlace(r.Dst, r.Src, r.Type.Bytes()):
		return wire.Refuse(r.Collective.Name, "dst and src overlap, but src[%d] is not dst[%d]", r.Args.AliasIn,
			r.Args.AliasOut)
	}
	return nil
}
