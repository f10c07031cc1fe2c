package colltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// element is what depends on the type of elements, which are bytes everywhere else.
type element interface {
	// draw makes a block of n values.
	draw(random *rand.Rand, v Values, n int) []byte
	// leftFold reduces operands, all of one length, from left to right, and finishes.
	leftFold(op spec.Op, operands [][]byte) []byte
	// plain gives all NaNs one pattern.
	plain(b []byte)
	// text is the value at b.
	text(b []byte) string
	// parts are the real and imaginary parts of the numbers in b, or the floats; none of integers.
	parts(b []byte) []float64
}

var elements = map[spec.Type]element{
	spec.TypeInt8: of[int8]{}, spec.TypeInt16: of[int16]{}, spec.TypeInt32: of[int32]{}, spec.TypeInt64: of[int64]{},
	spec.TypeUint8: of[uint8]{}, spec.TypeUint16: of[uint16]{}, spec.TypeUint32: of[uint32]{}, spec.TypeUint64: of[uint64]{},
	spec.TypeFloat16: of[spec.Float16]{}, spec.TypeBFloat16: of[spec.BFloat16]{},
	spec.TypeFloat32: of[float32]{}, spec.TypeFloat64: of[float64]{},
	spec.TypeComplex64: of[complex64]{}, spec.TypeComplex128: of[complex128]{},
}

// of is the element that is a T.
type of[T spec.Elem] struct{}

func (of[T]) draw(random *rand.Rand, v Values, n int) []byte {
	b := Aligned(n * int(unsafe.Sizeof(*new(T))))
	same := rand.New(rand.NewPCG(v.Seed, 1)) // special values that are the same in all blocks, such as nothing but -0
	for i := range As[T](b) {
		if As[T](b)[i] = spectest.Value[T](random, v.Kind); v.Kind != spectest.Ordinary && same.IntN(4) == 0 {
			As[T](b)[i] = spectest.Value[T](same, spectest.Special)
		}
	}
	tame(b, spec.TypeOf[T](), v)
	return b
}

func (of[T]) leftFold(op spec.Op, operands [][]byte) []byte {
	b := Aligned(len(operands[0]))
	copy(b, operands[0])
	result := As[T](b)
	for _, operand := range operands[1:] {
		for i, x := range As[T](operand) {
			result[i] = ref.Combine(op, result[i], x)
		}
	}
	for i, x := range result {
		result[i] = ref.Finish(op, x, len(operands))
	}
	return b
}

func (of[T]) plain(b []byte) { plain(b, spec.TypeOf[T]()) }

func (of[T]) text(b []byte) string { return fmt.Sprint(As[T](b)[0]) }

func (of[T]) parts(b []byte) (parts []float64) {
	for _, x := range As[T](b) {
		switch x := any(x).(type) {
		case spec.Float16:
			parts = append(parts, float64(x.Float32()))
		case spec.BFloat16:
			parts = append(parts, float64(x.Float32()))
		case float32:
			parts = append(parts, float64(x))
		case float64:
			parts = append(parts, x)
		case complex64:
			parts = append(parts, float64(real(x)), float64(imag(x)))
		case complex128:
			parts = append(parts, real(x), imag(x))
		}
	}
	return parts
}

// PlainNaN gives every NaN among elements of t one pattern, because signs and payloads of NaNs that a reduction yields
// are not specified. Memory has to begin at a multiple of an element.
func PlainNaN(t spec.Type, memory []byte) { plain(memory, t) }

// plain is a loop over the encodings: what has all bits of the exponent and one of the fraction is a NaN.
func plain(b []byte, t spec.Type) {
	each(b, t, func(x, exponent, fraction uint64) uint64 {
		if x&exponent == exponent && x&fraction != 0 {
			return exponent | fraction
		}
		return x
	})
}

// tame replaces what v does not want.
func tame(b []byte, t spec.Type, v Values) {
	if v.NoNaN || v.NoMinusZero {
		each(b, t, func(x, exponent, fraction uint64) uint64 {
			if v.NoNaN && x&exponent == exponent && x&fraction != 0 {
				x &^= exponent | fraction
			}
			if v.NoMinusZero && x&(exponent|fraction) == 0 {
				x = 0
			}
			return x
		})
	}
	if v.NoOverflow {
		small(b, t)
	}
}

// small makes every integer 1, seldom 0, or -1 if there are negative ones: sums of 127 of these, and all products, fit
// into 8 bits.
func small(b []byte, t spec.Type) {
	for n := t.Bytes(); len(b) >= n; b = b[n:] {
		x := b[0]
		clear(b[:n])
		switch {
		case x&7 == 0:
		case x&8 != 0 && t.Class() == spec.Signed:
			copy(b[:n], minusOne[:])
		default:
			b[0] = 1
		}
	}
}

var minusOne = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// each has f replace the encoding of every float, or part of a complex number; it is given the bits of the exponent and
// of the fraction.
func each(b []byte, t spec.Type, f func(x, exponent, fraction uint64) uint64) {
	if t.Precision() == 0 {
		return
	}
	n := partBytes(t)
	fraction := uint64(1)<<(t.Precision()-1) - 1
	exponent := uint64(math.MaxUint64) >> (65 - 8*n) &^ fraction
	for ; len(b) >= n; b = b[n:] {
		var x uint64
		for i := range n {
			x |= uint64(b[i]) << (8 * i)
		}
		x = f(x, exponent, fraction)
		for i := range n {
			b[i] = byte(x >> (8 * i))
		}
	}
}

// partBytes returns the size of a float, or of a part of a complex number.
func partBytes(t spec.Type) int {
	if t.Class() == spec.Complex {
		return t.Bytes() / 2
	}
	return t.Bytes()
}
