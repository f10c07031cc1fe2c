// Package kernel has the inner loops of reductions, one for each operator and element type, exactly as package spec
// defines them. There are several implementations of each: assembly for what a processor may have, which the program in
// _asm writes, and Go. The best that the processor can run is used for everything.
//
// Memory is passed as bytes, and has to be as aligned as its elements are. That it always is: a caller's slice by Go's
// own rules, scratch memory because it is aligned to more than any element, and every cut falls on an element.
package kernel

import (
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

//go:generate go run -C _asm .

// row is one thing for each element type.
type row[F any] [spec.TypeFloat8E5M2 + 1]F

// table is one thing for each operator and element type.
type table[F any] [spec.OpMaxLoc + 1]row[F]

// implementation is the kernels for one kind of processor. Where it has none, those in Go are as good.
type implementation struct {
	name      string
	kernels   table[wire.Kernel]
	folds     table[Many]
	exact     row[quickSum]
	divisions row[division]
	copy      func(dst, src []byte) // all of the same length
}

// division divides every element of data by size, in place.
type division func(data []byte, size int)

// candidate is an implementation, and what this processor lacks to run it.
type candidate struct {
	*implementation
	missing string
}

// best is the first implementation that this processor can run.
var best = func() *implementation {
	for _, c := range candidates {
		if c.missing == "" {
			return c.implementation
		}
	}
	return &generic
}()

// For returns the kernel that computes op on elements of type t. It is nil where op is not defined on t, or was
// declared without a kernel.
func For(op spec.Op, t spec.Type) wire.Kernel {
	switch k := declared[op].Load(); {
	case !op.Takes(t), op.Declared() && k == nil:
		return nil
	case k != nil:
		return *k
	}
	return best.kernel(op, t)
}

// declared has the kernels of declared ops.
var declared [1 << 8]atomic.Pointer[wire.Kernel]

// Declare makes f the kernel of op, which was declared for elements of type T.
func Declare[T spec.Elem](op spec.Op, f func(dst, a, b []T)) {
	k := lift(f)
	if spec.TypeOf[T]() == spec.TypeBool {
		k = onBools(k)
	}
	declared[op].Store(&k)
}

func (m *implementation) kernel(op spec.Op, t spec.Type) wire.Kernel {
	if k := m.kernels[op][t]; k != nil {
		return k
	}
	return generic.kernels[op][t]
}

// Finish does, in place, what op does once to the reduction of all operands of size ranks.
func Finish(op spec.Op, t spec.Type, data []byte, size int) { best.finish(op, t, data, size) }

func (m *implementation) finish(op spec.Op, t spec.Type, data []byte, size int) {
	if op.Finish() != spec.DivideBySize || !t.Valid() {
		return
	}
	d := m.divisions[t]
	if d == nil {
		d = generic.divisions[t]
	}
	if d != nil {
		d(data, size)
	}
}
