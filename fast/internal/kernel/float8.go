package kernel

import (
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// onE4M3 returns op's kernel: each element is computed in float32 and rounded once.
func onE4M3(op spec.Op) wire.Kernel {
	return lift(func(dst, a, b []spec.Float8E4M3) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = spec.NewFloat8E4M3(combine(op, a[i].Float32(), b[i].Float32()))
		}
	})
}

// onE5M2 returns op's kernel: each element is computed in float32 and rounded once.
func onE5M2(op spec.Op) wire.Kernel {
	return lift(func(dst, a, b []spec.Float8E5M2) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = spec.NewFloat8E5M2(combine(op, a[i].Float32(), b[i].Float32()))
		}
	})
}

func ratioE4M3(data []byte, size int) {
	elems := view[spec.Float8E4M3](data)
	for i, x := range elems {
		elems[i] = spec.NewFloat8E4M3(x.Float32() / float32(size))
	}
}

func ratioE5M2(data []byte, size int) {
	elems := view[spec.Float8E5M2](data)
	for i, x := range elems {
		elems[i] = spec.NewFloat8E5M2(x.Float32() / float32(size))
	}
}
