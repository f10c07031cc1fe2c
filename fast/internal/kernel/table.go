package kernel

import (
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// generic is the kernels in Go, all of them. Where it makes no difference, signed integers share the kernel of the
// unsigned ones, and a complex number is two floats.
var generic = implementation{
	name: "generic",
	kernels: table[wire.Kernel]{
		spec.OpSum:    sums,
		spec.OpAvg:    sums,
		spec.OpProd:   prods,
		spec.OpMin:    mins,
		spec.OpMax:    maxs,
		spec.OpBAnd:   integers(lift(band[uint8]), lift(band[uint16]), lift(band[uint32]), lift(band[uint64])),
		spec.OpBOr:    integers(lift(bor[uint8]), lift(bor[uint16]), lift(bor[uint32]), lift(bor[uint64])),
		spec.OpBXor:   integers(lift(bxor[uint8]), lift(bxor[uint16]), lift(bxor[uint32]), lift(bxor[uint64])),
		spec.OpLAnd:   truths(lift(land[uint8]), lift(land[uint16]), lift(land[uint32]), lift(land[uint64])),
		spec.OpLOr:    truths(lift(lor[uint8]), lift(lor[uint16]), lift(lor[uint32]), lift(lor[uint64])),
		spec.OpMinLoc: {spec.TypeComplex64: lift(minLoc[float32]), spec.TypeComplex128: lift(minLoc[float64])},
		spec.OpMaxLoc: {spec.TypeComplex64: lift(maxLoc[float32]), spec.TypeComplex128: lift(maxLoc[float64])},
	},
	divisions: divisions,
	copy:      func(dst, src []byte) { copy(dst, src) },
}

// integers has the given kernels for integers of 1, 2, 4 and 8 bytes.
func integers(k1, k2, k4, k8 wire.Kernel) row[wire.Kernel] {
	return row[wire.Kernel]{
		spec.TypeInt8: k1, spec.TypeInt16: k2, spec.TypeInt32: k4, spec.TypeInt64: k8,
		spec.TypeUint8: k1, spec.TypeUint16: k2, spec.TypeUint32: k4, spec.TypeUint64: k8,
	}
}

// truths has the given kernels for integers of 1, 2, 4 and 8 bytes, and the first one for bool.
func truths(k1, k2, k4, k8 wire.Kernel) row[wire.Kernel] {
	all := integers(k1, k2, k4, k8)
	all[spec.TypeBool] = k1
	return all
}

var sums = row[wire.Kernel]{
	spec.TypeInt8: lift(sum[uint8]), spec.TypeInt16: lift(sum[uint16]),
	spec.TypeInt32: lift(sum[uint32]), spec.TypeInt64: lift(sum[uint64]),
	spec.TypeUint8: lift(sum[uint8]), spec.TypeUint16: lift(sum[uint16]),
	spec.TypeUint32: lift(sum[uint32]), spec.TypeUint64: lift(sum[uint64]),
	spec.TypeFloat8E4M3: onE4M3(spec.OpSum), spec.TypeFloat8E5M2: onE5M2(spec.OpSum),
	spec.TypeFloat16: onFloat16(spec.OpSum), spec.TypeBFloat16: lift(sumBFloat16),
	spec.TypeFloat32: lift(sum[float32]), spec.TypeFloat64: lift(sum[float64]),
	spec.TypeComplex64: lift(sum[float32]), spec.TypeComplex128: lift(sum[float64]),
}

var prods = row[wire.Kernel]{
	spec.TypeInt8: lift(prod[uint8]), spec.TypeInt16: lift(prod[uint16]),
	spec.TypeInt32: lift(prod[uint32]), spec.TypeInt64: lift(prod[uint64]),
	spec.TypeUint8: lift(prod[uint8]), spec.TypeUint16: lift(prod[uint16]),
	spec.TypeUint32: lift(prod[uint32]), spec.TypeUint64: lift(prod[uint64]),
	spec.TypeFloat8E4M3: onE4M3(spec.OpProd), spec.TypeFloat8E5M2: onE5M2(spec.OpProd),
	spec.TypeFloat16: onFloat16(spec.OpProd), spec.TypeBFloat16: onBFloat16(spec.OpProd),
	spec.TypeFloat32: lift(prod[float32]), spec.TypeFloat64: lift(prod[float64]),
	spec.TypeComplex64: lift(prodComplex[float32]), spec.TypeComplex128: lift(prodComplex[float64]),
}

var mins = row[wire.Kernel]{
	spec.TypeInt8: lift(smaller[int8]), spec.TypeInt16: lift(smaller[int16]),
	spec.TypeInt32: lift(smaller[int32]), spec.TypeInt64: lift(smaller[int64]),
	spec.TypeUint8: lift(smaller[uint8]), spec.TypeUint16: lift(smaller[uint16]),
	spec.TypeUint32: lift(smaller[uint32]), spec.TypeUint64: lift(smaller[uint64]),
	spec.TypeFloat8E4M3: onE4M3(spec.OpMin), spec.TypeFloat8E5M2: onE5M2(spec.OpMin),
	spec.TypeFloat16: onFloat16(spec.OpMin), spec.TypeBFloat16: onBFloat16(spec.OpMin),
	spec.TypeFloat32: lift(smaller[float32]), spec.TypeFloat64: lift(smaller[float64]),
}

var maxs = row[wire.Kernel]{
	spec.TypeInt8: lift(larger[int8]), spec.TypeInt16: lift(larger[int16]),
	spec.TypeInt32: lift(larger[int32]), spec.TypeInt64: lift(larger[int64]),
	spec.TypeUint8: lift(larger[uint8]), spec.TypeUint16: lift(larger[uint16]),
	spec.TypeUint32: lift(larger[uint32]), spec.TypeUint64: lift(larger[uint64]),
	spec.TypeFloat8E4M3: onE4M3(spec.OpMax), spec.TypeFloat8E5M2: onE5M2(spec.OpMax),
	spec.TypeFloat16: onFloat16(spec.OpMax), spec.TypeBFloat16: onBFloat16(spec.OpMax),
	spec.TypeFloat32: lift(larger[float32]), spec.TypeFloat64: lift(larger[float64]),
}

// divisions are what completes an average, by element type.
var divisions = row[division]{
	spec.TypeInt8: quotient[int8], spec.TypeInt16: quotient[int16],
	spec.TypeInt32: quotient[int32], spec.TypeInt64: quotient64[int64],
	spec.TypeUint8: quotient[uint8], spec.TypeUint16: quotient[uint16],
	spec.TypeUint32: quotient[uint32], spec.TypeUint64: quotient64[uint64],
	spec.TypeFloat8E4M3: ratioE4M3, spec.TypeFloat8E5M2: ratioE5M2,
	spec.TypeFloat16: ratioFloat16, spec.TypeBFloat16: ratioBFloat16,
	spec.TypeFloat32: ratio[float32], spec.TypeFloat64: ratio[float64],
	spec.TypeComplex64: ratio[float32], spec.TypeComplex128: ratio[float64],
}
