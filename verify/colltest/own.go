package colltest

import (
	"encoding/binary"

	"github.com/collgen/collgen/spec"
)

// Compose is an op that an implementation is given by its user, as MPI_Op_create or fast.NewOp have it. It is not
// commutative. An uint64 stands for the function x ↦ a·x + b of integers of 32 bits, which wrap around: a is its upper
// half, b its lower one. Compose of f and g, of which f is from the lower rank, is the function that applies g first.
var Compose = func() spec.Op {
	op, err := spec.DeclareOp("compose", spec.TypeUint64, false)
	if err != nil {
		panic(err)
	}
	return op
}()

// compose sets dst[i] to Compose of dst[i] and the number in b.
func compose(dst, b []byte) {
	for ; len(dst) > 0; dst, b = dst[8:], b[8:] {
		f, g := binary.NativeEndian.Uint64(dst), binary.NativeEndian.Uint64(b)
		binary.NativeEndian.PutUint64(dst, Composed(f, g))
	}
}

// Composed returns Compose of f and g.
func Composed(f, g uint64) uint64 {
	a, c := uint32(f>>32), uint32(g>>32)
	return uint64(a*c)<<32 | uint64(a*uint32(g)+uint32(f))
}

// exact reports whether all trees give the same bits.
func exact(op spec.Op, t spec.Type) bool { return op == Compose || op.Exact(t) }
