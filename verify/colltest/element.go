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

// element has the operations that depend on the type of elements. All other code handles bytes.
type element interface {
	// draw returns a block of n values.
	draw(random *rand.Rand, v Values, n int) []byte
	// leftFold returns the reduction of operands, which have the same length, from left to right, finished as among
	// size ranks.
	leftFold(op spec.Op, size int, operands [][]byte) []byte
	// plain gives all NaNs the same bits.
	plain(b []byte)
	// text returns the value at b.
	text(b []byte) string
	// parts returns the floats in b, or the real and imaginary parts of complex numbers; nothing for others.
	parts(b []byte) []float64
}

var elements = map[spec.Type]element{
	spec.TypeInt8: of[int8]{}, spec.TypeInt16: of[int16]{}, spec.TypeInt32: of[int32]{}, spec.TypeInt64: of[int64]{},
	spec.TypeUint8: of[uint8]{}, spec.TypeUint16: of[uint16]{}, spec.TypeUint32: of[uint32]{},
	spec.TypeUint64:  of[uint64]{},
	spec.TypeFloat16: of[spec.Float16]{}, spec.TypeBFloat16: of[spec.BFloat16]{},
	spec.TypeFloat32: of[float32]{}, spec.TypeFloat64: of[float64]{},
	spec.TypeComplex64: of[complex64]{}, spec.TypeComplex128: of[complex128]{}, spec.TypeBool: of[bool]{},
	spec.TypeFloat8E4M3: of[spec.Float8E4M3]{}, spec.TypeFloat8E5M2: of[spec.Float8E5M2]{},
}

// of implements element for type T.
type of[T spec.Elem] struct{}

// mostDrawn is the number of values in a block that are drawn. A longer block has them again and again. It is a prime,
// so that no pieces into which a block is cut are alike.
const mostDrawn = 4099

func (of[T]) draw(random *rand.Rand, v Values, n int) []byte {
	b := Aligned(n * int(unsafe.Sizeof(*new(T))))
	if long := As[T](b); n > mostDrawn {
		drawn := As[T](of[T]{}.draw(random, v, mostDrawn))
		for len(long) > 0 {
			long = long[copy(long, drawn):]
		}
		return b
	}
	// special values at the same places of all blocks, so that all operands can be -0, for example
	same := rand.New(rand.NewPCG(v.Seed, 1))
	isSpecial := v.Kind != spectest.Ordinary && v.Kind != spectest.Whole
	value, special := spectest.Values[T](random, v.Kind), spectest.Values[T](same, spectest.Special)
	values := As[T](b)
	for i := range values {
		if values[i] = value(); isSpecial && same.IntN(4) == 0 {
			values[i] = special()
		}
	}
	tame(b, spec.TypeOf[T](), v)
	return b
}

func (of[T]) leftFold(op spec.Op, size int, operands [][]byte) []byte {
	b := Aligned(len(operands[0]))
	if most := mostDrawn * int(unsafe.Sizeof(*new(T))); len(b) > most { // all operands have their values again and again
		var drawn [][]byte
		for _, operand := range operands {
			drawn = append(drawn, operand[:most])
		}
		fold := of[T]{}.leftFold(op, size, drawn)
		for long := b; len(long) > 0; {
			long = long[copy(long, fold):]
		}
		return b
	}
	copy(b, operands[0])
	if op == Compose {
		for _, operand := range operands[1:] {
			compose(b, operand)
		}
		return b
	}
	result := As[T](b)
	for _, operand := range operands[1:] {
		for i, x := range As[T](operand) {
			result[i] = ref.Combine(op, result[i], x)
		}
	}
	for i, x := range result {
		result[i] = ref.Finish(op, x, size)
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
		case spec.Float8E4M3:
			parts = append(parts, float64(x.Float32()))
		case spec.Float8E5M2:
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

// PlainNaN gives all NaNs among elements of t the same bits, because the signs and payloads of NaNs in results are not
// specified. The memory has to be aligned to elements.
func PlainNaN(t spec.Type, memory []byte) { plain(memory, t) }

// plain gives all NaNs the same bits. A NaN has all bits of the exponent set, and one of the fraction.
func plain(b []byte, t spec.Type) {
	each(b, t, func(x, exponent, fraction uint64) uint64 {
		if x&exponent == exponent && x&fraction != 0 {
			return exponent | fraction
		}
		return x
	})
}

// tame replaces the values that v excludes.
func tame(b []byte, t spec.Type, v Values) {
	if !v.Keep && (v.NoNaN || v.NoMinusZero) {
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

// small replaces every integer by 1, sometimes 0, or -1 if the type is signed. Sums of 127 such integers, and all
// products, fit into 8 bits.
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

// each replaces the bits of every float, or part of a complex number, by the result of f. Its arguments are the bits,
// and masks of the exponent and the fraction.
func each(b []byte, t spec.Type, f func(x, exponent, fraction uint64) uint64) {
	if t.Precision() == 0 {
		return
	}
	n := partBytes(t)
	fraction := uint64(1)<<(t.Precision()-1) - 1
	if t == spec.TypeFloat8E4M3 { // a NaN has all bits set, and there are no infinities
		fraction = 1
	}
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
