package kernel

import (
	"math"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// planted are kernels with one fault each, as kernels of assembly come to have them.
var planted = []struct {
	fault string
	op    spec.Op
	typ   spec.Type
	k     wire.Kernel
}{
	{"the last lane is wrong", spec.OpSum, spec.TypeInt8, func(dst, a, b []byte) {
		For(spec.OpSum, spec.TypeInt8)(dst, a, b)
		if len(dst) == 255 {
			dst[254]++
		}
	}},
	{"the last element is left out", spec.OpSum, spec.TypeFloat32, func(dst, a, b []byte) {
		n := len(dst) &^ 7
		For(spec.OpSum, spec.TypeFloat32)(dst[:n], a[:n], b[:n])
	}},
	{"writes one byte more", spec.OpBXor, spec.TypeUint8, func(dst, a, b []byte) {
		For(spec.OpBXor, spec.TypeUint8)(dst, a, b)
		if cap(dst) > len(dst) {
			dst[:len(dst)+1][len(dst)] ^= 1
		}
	}},
	{"writes back an operand", spec.OpMax, spec.TypeInt16, func(dst, a, b []byte) {
		For(spec.OpMax, spec.TypeInt16)(dst, a, b)
		copy(b, dst)
	}},
	{"the operands are exchanged where the result is the second one", spec.OpBOr, spec.TypeUint8, func(dst, a, b []byte) {
		copy(dst, a)
		For(spec.OpBOr, spec.TypeUint8)(dst, dst, b)
	}},
	{"does a block again from its end, in place", spec.OpSum, spec.TypeInt64, func(dst, a, b []byte) {
		k := For(spec.OpSum, spec.TypeInt64)
		k(dst, a, b)
		if n := len(dst) - 64; n > 0 && n%64 != 0 {
			k(dst[n:], a[n:], b[n:])
		}
	}},
	{"the processor's own minimum", spec.OpMin, spec.TypeFloat32, lift(func(dst, a, b []float32) {
		for i := range dst {
			if x := a[i]; x < b[i] {
				dst[i] = x
			} else {
				dst[i] = b[i]
			}
		}
	})},
	{"-0 is as large as +0", spec.OpMax, spec.TypeFloat64, lift(func(dst, a, b []float64) {
		for i := range dst {
			if x, y := a[i], b[i]; x == 0 && y == 0 {
				dst[i] = y
			} else {
				dst[i] = max(x, y)
			}
		}
	})},
	{"rounds toward zero", spec.OpSum, spec.TypeBFloat16, lift(func(dst, a, b []spec.BFloat16) {
		for i := range dst {
			dst[i] = spec.BFloat16FromBits(uint16(math.Float32bits(a[i].Float32()+b[i].Float32()) >> 16))
		}
	})},
	{"rounds ties up", spec.OpSum, spec.TypeBFloat16, lift(func(dst, a, b []spec.BFloat16) {
		for i := range dst {
			dst[i] = spec.BFloat16FromBits(uint16((math.Float32bits(a[i].Float32()+b[i].Float32()) + 0x8000) >> 16))
		}
	})},
	{"subnormal numbers are zero", spec.OpSum, spec.TypeFloat16, lift(func(dst, a, b []spec.Float16) {
		for i := range dst {
			dst[i] = spec.NewFloat16(a[i].Float32() + b[i].Float32())
			if dst[i].Bits()&0x7c00 == 0 {
				dst[i] = spec.Float16FromBits(dst[i].Bits() & 0x8000)
			}
		}
	})},
	{"a fused product", spec.OpProd, spec.TypeComplex128, lift(func(dst, a, b []float64) {
		for i := 0; i < len(dst); i += 2 {
			re, im := math.FMA(a[i], b[i], -a[i+1]*b[i+1]), math.FMA(a[i], b[i+1], a[i+1]*b[i])
			dst[i], dst[i+1] = re, im
		}
	})},
	{"of equal values, the index of the first", spec.OpMaxLoc, spec.TypeComplex128, lift(func(dst, a, b []complex128) {
		for i := range dst {
			k := []float64{0, 0}
			maxLoc(k, []float64{real(a[i]), imag(a[i])}, []float64{real(b[i]), imag(b[i])})
			if same(real(a[i]), real(b[i])) {
				k[1] = imag(a[i])
			}
			dst[i] = complex(k[0], k[1])
		}
	})},
	{"-0 is as small as +0, so that the index decides", spec.OpMinLoc, spec.TypeComplex64, lift(func(dst, a, b []float32) {
		for i := 0; i+1 < len(dst); i += 2 {
			x, y := a[i:i+2:i+2], b[i:i+2:i+2]
			if y[0] < x[0] || y[0] == x[0] && y[1] < x[1] {
				x = y
			}
			dst[i], dst[i+1] = x[0], x[1]
		}
	})},
	{"signed for unsigned", spec.OpMin, spec.TypeUint64, lift(smaller[int64])},
	{"truth is all ones", spec.OpLOr, spec.TypeUint16, lift(func(dst, a, b []uint16) {
		for i := range dst {
			dst[i] = -truth(a[i] | b[i])
		}
	})},
}

// TestPlanted: checkKernel finds every fault.
func TestPlanted(t *testing.T) {
	for _, p := range planted {
		if err := checkKernel(p.k, p.op, p.typ); err == nil {
			t.Errorf("%s: not found", p.fault)
		} else {
			t.Logf("%s: %v", p.fault, err)
		}
	}
}

// TestPlantedDivision: checkDivision finds a multiplication by 1/n, and a division that forgets the rest.
func TestPlantedDivision(t *testing.T) {
	for _, d := range []division{
		func(data []byte, size int) {
			for i, x := range view[float32](data) {
				view[float32](data)[i] = x * (1 / float32(size))
			}
		},
		func(data []byte, size int) { Finish(spec.OpAvg, spec.TypeFloat32, data[:len(data)&^15], size) },
	} {
		if checkDivision(d, spec.OpAvg, spec.TypeFloat32) == nil {
			t.Error("not found")
		}
	}
}

// TestPlantedFold: checkFold finds a fold from right to left, and one that leaves an operand out.
func TestPlantedFold(t *testing.T) {
	for _, many := range []Many{
		func(dst []byte, operands [][]byte) { manyTimes(dst, operands[:len(operands)-1]) },
		func(dst []byte, operands [][]byte) {
			blend(dst, operands[1], operands[0])
			for _, x := range operands[2:] {
				blend(dst, dst, x)
			}
		},
	} {
		if checkFold(blend, many, spec.TypeUint8, 100) == nil {
			t.Error("not found")
		}
	}
	if err := checkFold(blend, manyTimes, spec.TypeUint8, 100); err != nil {
		t.Error(err)
	}
}

// manyTimes is a correct fold of blend.
func manyTimes(dst []byte, operands [][]byte) {
	result := make([]byte, len(dst))
	copy(result, operands[0])
	for _, x := range operands[1:] {
		blend(result, result, x)
	}
	copy(dst, result)
}
