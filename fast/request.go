package fast

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// request is a call that is to be made.
type request struct {
	form
	dst, src []byte
	known    uint64 // the number of the form among those that were prepared without options; 0: it is none of them
}

// form is all of a call but its buffers. Calls repeat themselves, so that of the last one is kept in Comm.last: the
// same call again only brings its buffers.
type form struct {
	k     *Collective
	t     spec.Type
	args  Args
	fused fused
	// What prepare finds:
	a     *Algorithm
	depth int
}

// checkOverlap finds what is wrong with buffers that share memory.
func (r *request) checkOverlap() error {
	switch {
	case !overlap(r.dst, r.src):
	case r.args.NoAlias:
		return wire.Refuse(r.k.Name, "dst and src overlap")
	case !r.args.inPlace(r.dst, r.src, r.t.Bytes()):
		return wire.Refuse(r.k.Name, "dst and src overlap, but src[%d] is not dst[%d]", r.args.AliasIn, r.args.AliasOut)
	}
	return nil
}

// overlap reports whether x and y have memory in common.
func overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := address(x), address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

func address(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// describe returns all that the other ranks compare with theirs, but the call's number.
func (p *form) describe() wire.Call {
	d := wire.Call{Primitive: p.k.Hash, Schedule: p.a.Hash, Count: uint64(p.args.Count), Type: uint32(p.t),
		Root: uint32(p.args.Root), Depth: uint32(p.depth),
		PrimitiveName: wire.NewLabel(p.k.Name), AlgorithmName: wire.NewLabel(p.a.Name)}
	if p.k.PointToPoint {
		d.Peer = uint32(p.args.Peer) + 1
	}
	if p.k.Reduces {
		d.Op = uint32(p.args.Op) | p.fused.mark()
	}
	if p.fused.n > 0 {
		d.PrimitiveName = p.fused.label()
	}
	return d
}
