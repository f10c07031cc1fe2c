package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// kind is what tests do with elements of a type, in bytes.
type kind struct {
	fill    func(random *rand.Rand, k spectest.Kind, data []byte)
	combine func(op spec.Op, dst, a, b []byte) // the reference
	finish  func(op spec.Op, data []byte, size int)
	same    func(x, y []byte) bool // of two elements: the same bits, or NaN in the same parts
}

// kinds are the element types.
var kinds = map[spec.Type]kind{
	spec.TypeInt8: kindOf[int8](nil), spec.TypeInt16: kindOf[int16](nil),
	spec.TypeInt32: kindOf[int32](nil), spec.TypeInt64: kindOf[int64](nil),
	spec.TypeUint8: kindOf[uint8](nil), spec.TypeUint16: kindOf[uint16](nil),
	spec.TypeUint32: kindOf[uint32](nil), spec.TypeUint64: kindOf[uint64](nil),
	spec.TypeFloat16:  kindOf(func(x spec.Float16) bool { return x.Float32() != x.Float32() }),
	spec.TypeBFloat16: kindOf(func(x spec.BFloat16) bool { return x.Float32() != x.Float32() }),
	spec.TypeFloat32:  kindOf(isNaN[float32]), spec.TypeFloat64: kindOf(isNaN[float64]),
	spec.TypeComplex64: complexKind[complex64, float32](), spec.TypeComplex128: complexKind[complex128, float64](),
	spec.TypeBool:       kindOf[bool](nil),
	spec.TypeFloat8E4M3: kindOf(func(x spec.Float8E4M3) bool { return x.Float32() != x.Float32() }),
	spec.TypeFloat8E5M2: kindOf(func(x spec.Float8E5M2) bool { return x.Float32() != x.Float32() }),
}

func isNaN[T float](x T) bool { return x != x }

// kindOf returns the kind of T. isNaN is nil of integers.
func kindOf[T spec.Elem](isNaN func(T) bool) kind {
	return kind{
		fill: func(random *rand.Rand, k spectest.Kind, data []byte) {
			value := spectest.Values[T](random, k)
			for i := range view[T](data) {
				view[T](data)[i] = value()
			}
		},
		combine: func(op spec.Op, dst, a, b []byte) {
			x, y := view[T](a), view[T](b)
			for i := range view[T](dst) {
				view[T](dst)[i] = ref.Combine(op, x[i], y[i])
			}
		},
		finish: func(op spec.Op, data []byte, size int) {
			for i, x := range view[T](data) {
				view[T](data)[i] = ref.Finish(op, x, size)
			}
		},
		same: func(x, y []byte) bool {
			return bytes.Equal(x, y) || isNaN != nil && isNaN(view[T](x)[0]) && isNaN(view[T](y)[0])
		},
	}
}

// complexKind returns the kind of T, the parts of which are of type Part.
func complexKind[T spec.Elem, Part float]() kind {
	k, part := kindOf[T](nil), kindOf(isNaN[Part])
	half := int(unsafe.Sizeof(*new(Part)))
	k.same = func(x, y []byte) bool { return part.same(x[:half], y[:half]) && part.same(x[half:], y[half:]) }
	return k
}

// difference says where two arrays of elements differ, nil if nowhere.
func (k kind) difference(size int, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	for i := 0; i < len(got); i += size {
		if !k.same(got[i:i+size], want[i:i+size]) {
			return fmt.Errorf("element %d of %d is %x, want %x", i/size, len(got)/size, got[i:i+size], want[i:i+size])
		}
	}
	return nil
}
