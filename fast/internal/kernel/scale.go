package kernel

import "github.com/collgen/collgen/spec"

// Scale sets the elements of dst, which are floats or complex numbers of type t, to those of src times factor, and
// reports whether they are. Dst may be src. The factor is rounded to the precision in which t is computed: float32 for
// types of 8 or 16 bits, to which products are then rounded.
func Scale(t spec.Type, dst, src []byte, factor float64) bool {
	if !t.Valid() || scales[t] == nil {
		return false
	}
	scales[t](dst, src, factor)
	return true
}

// Scales reports whether Scale takes elements of type t.
func Scales(t spec.Type) bool { return t.Valid() && scales[t] != nil }

var scales = row[func(dst, src []byte, factor float64)]{
	spec.TypeFloat8E4M3: scaleShort(spec.Float8E4M3.Float32, spec.NewFloat8E4M3),
	spec.TypeFloat8E5M2: scaleShort(spec.Float8E5M2.Float32, spec.NewFloat8E5M2),
	spec.TypeFloat16:    scaleShort(spec.Float16.Float32, spec.NewFloat16),
	spec.TypeBFloat16:   scaleShort(spec.BFloat16.Float32, spec.NewBFloat16),
	spec.TypeFloat32:    scale[float32],
	spec.TypeFloat64:    scale[float64],
	spec.TypeComplex64:  scale[float32], spec.TypeComplex128: scale[float64],
}

func scale[T float](dst, src []byte, factor float64) {
	to, from, f := view[T](dst), view[T](src), T(factor)
	from = from[:len(to)]
	for i := range to {
		to[i] = from[i] * f
	}
}

func scaleShort[T any](widen func(T) float32, narrow func(float32) T) func(dst, src []byte, factor float64) {
	return func(dst, src []byte, factor float64) {
		to, from, f := view[T](dst), view[T](src), float32(factor)
		from = from[:len(to)]
		for i := range to {
			to[i] = narrow(widen(from[i]) * f)
		}
	}
}
