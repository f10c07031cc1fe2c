package ref

import "github.com/collgen/collgen/spec"

// Finish returns what op makes of x, the reduction of all operands of size ranks. The size may be more than an integer
// type can hold: the division is that of whole numbers.
func Finish[T Elem](op spec.Op, x T, size int) T {
	if op.Finish() != spec.DivideBySize || !op.Takes(spec.TypeOf[T]()) {
		return x
	}
	switch spec.TypeOf[T]() {
	case spec.TypeInt8:
		return cast[T](int8(int64(cast[int8](x)) / int64(size)))
	case spec.TypeInt16:
		return cast[T](int16(int64(cast[int16](x)) / int64(size)))
	case spec.TypeInt32:
		return cast[T](int32(int64(cast[int32](x)) / int64(size)))
	case spec.TypeInt64:
		return cast[T](cast[int64](x) / int64(size))
	case spec.TypeUint8:
		return cast[T](uint8(uint64(cast[uint8](x)) / uint64(size)))
	case spec.TypeUint16:
		return cast[T](uint16(uint64(cast[uint16](x)) / uint64(size)))
	case spec.TypeUint32:
		return cast[T](uint32(uint64(cast[uint32](x)) / uint64(size)))
	case spec.TypeUint64:
		return cast[T](cast[uint64](x) / uint64(size))
	case spec.TypeFloat16:
		return cast[T](spec.NewFloat16(cast[spec.Float16](x).Float32() / float32(size)))
	case spec.TypeBFloat16:
		return cast[T](spec.NewBFloat16(cast[spec.BFloat16](x).Float32() / float32(size)))
	case spec.TypeFloat8E4M3:
		return cast[T](spec.NewFloat8E4M3(cast[spec.Float8E4M3](x).Float32() / float32(size)))
	case spec.TypeFloat8E5M2:
		return cast[T](spec.NewFloat8E5M2(cast[spec.Float8E5M2](x).Float32() / float32(size)))
	case spec.TypeFloat32:
		return cast[T](cast[float32](x) / float32(size))
	case spec.TypeFloat64:
		return cast[T](cast[float64](x) / float64(size))
	case spec.TypeComplex64:
		z, n := cast[complex64](x), float32(size)
		return cast[T](complex(real(z)/n, imag(z)/n))
	default:
		z, n := cast[complex128](x), float64(size)
		return cast[T](complex(real(z)/n, imag(z)/n))
	}
}
