package fast

import (
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// NewOp returns an op of the program's own, for elements of type T. Combine sets dst[i] to the reduction of a[i], which
// is from lower ranks, and b[i]. The three are equally long, and dst may be a or b. It is called for pieces of any
// length, and at the same time for several calls, so it keeps no state. The op has to be associative; that is not
// checked. If it is commutative, operands may also change places, and more algorithms can carry it out.
//
// All ranks declare the op by the same name, 1 to 20 printable ASCII characters, and not necessarily in the same order.
// They compare the names in every call. A process can have 64 such ops, each with a name of its own: an op is declared
// once, and not for every call.
//
// The option Reproducible is refused with such an op on floats.
func NewOp[T Elem](name string, commutative bool, combine func(dst, a, b []T)) (Op, error) {
	const longest = 20
	switch {
	case !exec.IsLabel(name) || len(name) > longest:
		return 0, wire.Refuse("NewOp", "the name %q is not 1 to %d printable ASCII characters", name, longest)
	case combine == nil:
		return 0, wire.Refuse("NewOp", "combine is nil")
	}
	op, err := spec.DeclareOp(name, spec.TypeOf[T](), commutative)
	if err != nil {
		return 0, wire.Refuse("NewOp", "%v", err)
	}
	kernel.Declare(op, combine)
	return op, nil
}
