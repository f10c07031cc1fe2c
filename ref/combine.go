package ref

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// Elem is the constraint of element types.
type Elem = spec.Elem

// Combine returns a ⊕ b. It panics if op does not take elements of type T.
func Combine[T Elem](op spec.Op, a, b T) T {
	t := spec.TypeOf[T]()
	if !op.Takes(t) {
		panic(fmt.Sprintf("ref: %v does not take %v", op, t))
	}
	switch t {
	case spec.TypeInt8:
		return cast[T](integer(op, cast[int8](a), cast[int8](b)))
	case spec.TypeInt16:
		return cast[T](integer(op, cast[int16](a), cast[int16](b)))
	case spec.TypeInt32:
		return cast[T](integer(op, cast[int32](a), cast[int32](b)))
	case spec.TypeInt64:
		return cast[T](integer(op, cast[int64](a), cast[int64](b)))
	case spec.TypeUint8, spec.TypeBool:
		return cast[T](integer(op, cast[uint8](a), cast[uint8](b)))
	case spec.TypeUint16:
		return cast[T](integer(op, cast[uint16](a), cast[uint16](b)))
	case spec.TypeUint32:
		return cast[T](integer(op, cast[uint32](a), cast[uint32](b)))
	case spec.TypeUint64:
		return cast[T](integer(op, cast[uint64](a), cast[uint64](b)))
	case spec.TypeFloat16:
		return cast[T](spec.NewFloat16(float(op, cast[spec.Float16](a).Float32(), cast[spec.Float16](b).Float32())))
	case spec.TypeBFloat16:
		return cast[T](spec.NewBFloat16(float(op, cast[spec.BFloat16](a).Float32(), cast[spec.BFloat16](b).Float32())))
	case spec.TypeFloat8E4M3:
		x, y := cast[spec.Float8E4M3](a), cast[spec.Float8E4M3](b)
		return cast[T](spec.NewFloat8E4M3(float(op, x.Float32(), y.Float32())))
	case spec.TypeFloat8E5M2:
		x, y := cast[spec.Float8E5M2](a), cast[spec.Float8E5M2](b)
		return cast[T](spec.NewFloat8E5M2(float(op, x.Float32(), y.Float32())))
	case spec.TypeFloat32:
		return cast[T](float(op, cast[float32](a), cast[float32](b)))
	case spec.TypeFloat64:
		return cast[T](float(op, cast[float64](a), cast[float64](b)))
	case spec.TypeComplex64:
		x, y := cast[complex64](a), cast[complex64](b)
		re, im := complexParts(op, real(x), imag(x), real(y), imag(y))
		return cast[T](complex(re, im))
	default:
		x, y := cast[complex128](a), cast[complex128](b)
		re, im := complexParts(op, real(x), imag(x), real(y), imag(y))
		return cast[T](complex(re, im))
	}
}

// cast returns x as a type that has the same memory: T itself, or the type that T is defined as, and back.
func cast[To, From any](x From) To { return *(*To)(unsafe.Pointer(&x)) }

type integers interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func integer[T integers](op spec.Op, a, b T) T {
	switch op {
	case spec.OpSum, spec.OpAvg:
		return a + b
	case spec.OpProd:
		return a * b
	case spec.OpMin:
		return min(a, b)
	case spec.OpMax:
		return max(a, b)
	case spec.OpBAnd:
		return a & b
	case spec.OpBOr:
		return a | b
	case spec.OpBXor:
		return a ^ b
	case spec.OpLAnd:
		return truth[T](a != 0 && b != 0)
	default: // OpLOr
		return truth[T](a != 0 || b != 0)
	}
}

func truth[T integers](b bool) T {
	if b {
		return 1
	}
	return 0
}

// float computes in T's own precision: a conversion keeps the compiler from fusing an operation with another one.
func float[T float32 | float64](op spec.Op, a, b T) T {
	switch op {
	case spec.OpSum, spec.OpAvg:
		return T(a + b)
	case spec.OpProd:
		return T(a * b)
	case spec.OpMin:
		return min(a, b) // Go's min and max have the rules for NaN and -0 that spec has
	default: // OpMax
		return max(a, b)
	}
}

// complexParts is (a, b) ⊕ (c, d). Go's own product of complex64 is computed in float64, which is not what spec says.
func complexParts[T float32 | float64](op spec.Op, a, b, c, d T) (re, im T) {
	switch op {
	case spec.OpProd:
		return T(T(a*c) - T(b*d)), T(T(a*d) + T(b*c))
	case spec.OpMinLoc:
		return located(min(a, c), a, b, c, d)
	case spec.OpMaxLoc:
		return located(max(a, c), a, b, c, d)
	default: // OpSum, OpAvg
		return T(a + c), T(b + d)
	}
}

// located returns value, which is a or c, with its index: b, d, or the smaller one if it is both.
func located[T float32 | float64](value, a, b, c, d T) (T, T) {
	first, second := same(value, a), same(value, c)
	switch {
	case first && second:
		return value, min(b, d)
	case first:
		return value, b
	default:
		return value, d
	}
}

// same reports whether x and y are both a NaN, or equal, and not zeros of different signs.
func same[T float32 | float64](x, y T) bool {
	return x != x && y != y || x == y && math.Signbit(float64(x)) == math.Signbit(float64(y))
}
