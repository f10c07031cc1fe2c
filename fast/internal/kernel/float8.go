package kernel

import (
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// onE4M3 and onE5M2 return op's kernel: each element is computed in float32 and rounded once.
func onE4M3(op spec.Op) wire.Kernel {
	return onFloat8(op, spec.Float8E4M3.Float32, spec.NewFloat8E4M3)
}

func onE5M2(op spec.Op) wire.Kernel {
	return onFloat8(op, spec.Float8E5M2.Float32, spec.NewFloat8E5M2)
}

func onFloat8[T any](op spec.Op, widen func(T) float32, narrow func(float32) T) wire.Kernel {
	return lift(func(dst, a, b []T) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = narrow(combine(op, widen(a[i]), widen(b[i])))
		}
	})
}

var (
	ratioE4M3 = ratioFloat8(spec.Float8E4M3.Float32, spec.NewFloat8E4M3)
	ratioE5M2 = ratioFloat8(spec.Float8E5M2.Float32, spec.NewFloat8E5M2)
)

func ratioFloat8[T any](widen func(T) float32, narrow func(float32) T) division {
	return func(data []byte, size int) {
		elems := view[T](data)
		for i, x := range elems {
			elems[i] = narrow(widen(x) / float32(size))
		}
	}
}
