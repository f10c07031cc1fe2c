package kernel

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// lift returns f on bytes. T has no pointers.
func lift[T any](f func(dst, a, b []T)) wire.Kernel {
	return func(dst, a, b []byte) { f(view[T](dst), view[T](a), view[T](b)) }
}

// view returns the elements of data.
func view[T any](data []byte) []T {
	var elem T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(elem)))
}

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type integer interface {
	unsigned | int8 | int16 | int32 | int64
}

type float interface{ float32 | float64 }

// sum is written out for eight elements at a time, which a processor overlaps better than the plain loop.
func sum[T unsigned | float](dst, a, b []T) {
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		d, x, y := (*[8]T)(dst[i:]), (*[8]T)(a[i:]), (*[8]T)(b[i:])
		d[0] = x[0] + y[0]
		d[1] = x[1] + y[1]
		d[2] = x[2] + y[2]
		d[3] = x[3] + y[3]
		d[4] = x[4] + y[4]
		d[5] = x[5] + y[5]
		d[6] = x[6] + y[6]
		d[7] = x[7] + y[7]
	}
	for ; i < n; i++ {
		dst[i] = a[i] + b[i]
	}
}

func prod[T unsigned | float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

// prodComplex takes a complex number as two elements. Each conversion is a rounding: it keeps the compiler from fusing
// operations.
func prodComplex[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := 0; i+1 < len(dst); i += 2 {
		re, im := T(a[i]*b[i])-T(a[i+1]*b[i+1]), T(a[i]*b[i+1])+T(a[i+1]*b[i])
		dst[i], dst[i+1] = re, im
	}
}

// smaller is spec's Min: Go's min has the same rules for NaN and -0.
func smaller[T integer | float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

func larger[T integer | float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

// minLoc and maxLoc take a pair of a value and its index as two elements.
func minLoc[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := 0; i+1 < len(dst); i += 2 {
		value := min(a[i], b[i])
		dst[i], dst[i+1] = value, index(value, a[i], a[i+1], b[i], b[i+1])
	}
}

func maxLoc[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := 0; i+1 < len(dst); i += 2 {
		value := max(a[i], b[i])
		dst[i], dst[i+1] = value, index(value, a[i], a[i+1], b[i], b[i+1])
	}
}

// index returns the index of value: i if it is a, j if it is b, and the smaller one if it is both.
func index[T float](value, a, i, b, j T) T {
	first, second := same(value, a), same(value, b)
	switch {
	case first && second:
		return min(i, j)
	case first:
		return i
	default:
		return j
	}
}

// same reports whether x and y are both a NaN, or equal, and not zeros of different signs.
func same[T float](x, y T) bool {
	return x != x && y != y || x == y && math.Signbit(float64(x)) == math.Signbit(float64(y))
}

func land[T unsigned](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = truth[T](a[i]) & truth[T](b[i])
	}
}

func lor[T unsigned](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = truth[T](a[i] | b[i])
	}
}

func truth[T unsigned](x T) T {
	if x != 0 {
		return 1
	}
	return 0
}

func band[T unsigned](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
}

func bor[T unsigned](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
}

func bxor[T unsigned](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] ^ b[i]
	}
}

// onFloat16 returns op's kernel: each element is computed in float32 and rounded once.
func onFloat16(op spec.Op) wire.Kernel {
	return lift(func(dst, a, b []spec.Float16) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = spec.NewFloat16(combine(op, a[i].Float32(), b[i].Float32()))
		}
	})
}

// sumBFloat16 is what onBFloat16 makes of OpSum, four times as fast: gradients are summed with it.
func sumBFloat16(dst, a, b []spec.BFloat16) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = spec.NewBFloat16(a[i].Float32() + b[i].Float32())
	}
}

// onBFloat16 returns op's kernel: each element is computed in float32 and rounded once.
func onBFloat16(op spec.Op) wire.Kernel {
	return lift(func(dst, a, b []spec.BFloat16) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = spec.NewBFloat16(combine(op, a[i].Float32(), b[i].Float32()))
		}
	})
}

func combine(op spec.Op, x, y float32) float32 {
	switch op {
	case spec.OpProd:
		return x * y
	case spec.OpMin:
		return min(x, y)
	case spec.OpMax:
		return max(x, y)
	default: // OpSum, OpAvg
		return x + y
	}
}

// quotient divides integers of at most 32 bits, by a multiplication with 2^64/size, rounded up (Lemire, Kaser and Kurz,
// Faster remainder by direct computation, 2019): exact of numbers and sizes below 2^32.
func quotient[T int8 | int16 | int32 | uint8 | uint16 | uint32](data []byte, size int) {
	switch {
	case size == 1:
		return
	case uint64(size) > math.MaxUint32:
		clear(data)
		return
	}
	inverse := ^uint64(0)/uint64(size) + 1
	elems := view[T](data)
	for i, x := range elems {
		sign := int64(x) >> 63
		q, _ := bits.Mul64(inverse, uint64((int64(x)^sign)-sign))
		elems[i] = T((int64(q) ^ sign) - sign)
	}
}

func quotient64[T int64 | uint64](data []byte, size int) {
	elems := view[T](data)
	for i, x := range elems {
		elems[i] = x / T(size)
	}
}

func ratio[T float](data []byte, size int) {
	elems := view[T](data)
	for i, x := range elems {
		elems[i] = x / T(size)
	}
}

func ratioFloat16(data []byte, size int) {
	elems := view[spec.Float16](data)
	for i, x := range elems {
		elems[i] = spec.NewFloat16(x.Float32() / float32(size))
	}
}

func ratioBFloat16(data []byte, size int) {
	elems := view[spec.BFloat16](data)
	for i, x := range elems {
		elems[i] = spec.NewBFloat16(x.Float32() / float32(size))
	}
}
