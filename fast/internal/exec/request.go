package exec

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Request is a call that is to be made.
type Request struct {
	Form
	Dst, Src []byte
	known    uint64 // the number of the form among those that were prepared without options; 0: it is none of them
}

// Form is all of a call but its buffers. Calls repeat themselves, so that of the last one is kept in Comm.last: the
// same call again only brings its buffers.
type Form struct {
	Collective *Collective
	Type       spec.Type
	Args       Args
	fused      Fused
	// What prepare finds:
	Algorithm *Algorithm
	Depth     int
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
