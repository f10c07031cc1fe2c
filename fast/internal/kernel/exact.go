package kernel

import (
	"math"

	"github.com/collgen/collgen/spec"
)

// ExactFor returns what sums many operands of type t so that each element is the exact sum, rounded once to nearest
// even: the same whatever the order of the operands. It is nil where t has no floats, whose sums depend on the order.
//
// Each sum is kept as one or two float64 whose errors are observed (Knuth's two-sum). Where these do not hold it
// exactly, or it is not finite, an accumulator sums that element anew.
func ExactFor(t spec.Type) Many {
	if !t.Valid() {
		return nil
	}
	return exacts[t]
}

var exacts = func() (all row[Many]) {
	for t := range all {
		all[t] = best.exactFor(spec.Type(t))
	}
	return all
}()

func (m *implementation) exactFor(t spec.Type) Many {
	float := partsOf(t)
	if float == 0 {
		return nil
	}
	quick := m.exact[t]
	if quick == nil {
		return func(dst []byte, operands [][]byte) { exactSum(float, dst, operands, 0, len(dst)) }
	}
	return func(dst []byte, operands [][]byte) {
		for at := 0; ; at += quickPiece {
			if at = quick(dst, operands, at); at >= len(dst) {
				return
			}
			exactSum(float, dst, operands, at, min(at+quickPiece, len(dst)))
		}
	}
}

// quickSum sums operands, two or more, as ExactFor says, from the byte from on, as far as vectors reach and no sum
// needs an accumulator. It returns the byte up to which it has. It has written nothing beyond.
type quickSum func(dst []byte, operands [][]byte, from int) (to int)

// quickPiece is how many bytes are summed otherwise before a quickSum goes on.
const quickPiece = 128

// partsOf returns the type of floats that elements of type t consist of, or 0 if there are none.
func partsOf(t spec.Type) spec.Type {
	switch t {
	case spec.TypeFloat8E4M3, spec.TypeFloat8E5M2, spec.TypeFloat16, spec.TypeBFloat16, spec.TypeFloat32,
		spec.TypeFloat64:
		return t
	case spec.TypeComplex64:
		return spec.TypeFloat32
	case spec.TypeComplex128:
		return spec.TypeFloat64
	}
	return 0
}

// exactSum sums operands of type t as ExactFor says, from the byte from to the byte to.
func exactSum(t spec.Type, dst []byte, operands [][]byte, from, to int) {
	var b batch
	size, odd := t.Bytes(), t != spec.TypeFloat64
	for ; from < to; from += batchLen * size {
		end := min(from+batchLen*size, to)
		n := (end - from) / size
		// Sums of shorter floats seldom need more than one float64.
		if !odd || !b.addSingly(t, operands, from, end) {
			b.addInPairs(t, operands, from, end)
			for j := range n {
				if !b.round(j, odd) {
					b.high[j] = accumulated(t, operands, from+j*size)
				}
			}
		}
		narrow(t, dst[from:end], b.high[:n]) // not before: dst may be one of the operands
	}
}

// accumulated returns the sum of the elements of type t at a byte of the operands.
func accumulated(t spec.Type, operands [][]byte, at int) float64 {
	var a accumulator
	var x [1]float64
	for _, operand := range operands {
		widen(t, x[:], operand[at:at+t.Bytes()])
		a.add(x[0])
	}
	return a.sum(t != spec.TypeFloat64)
}

const batchLen = 64

// batch is sums of elements that lie side by side. Each is that of two numbers, and exact as long as lost is 0. All
// that is lost adds up to a number other than 0, as a NaN is.
type batch struct {
	high, low, lost [batchLen]float64
	next            [batchLen]float64 // elements of one operand
}

// addSingly makes the high numbers the sums of operands of type t, from the byte from to the byte to. It reports
// whether all of them are exact.
func (b *batch) addSingly(t spec.Type, operands [][]byte, from, to int) bool {
	n := widen(t, b.high[:], operands[0][from:to])
	var lost uint64
	for _, operand := range operands[1:] {
		widen(t, b.next[:], operand[from:to])
		for j, x := range b.next[:n] {
			sum, rest := twoSum(b.high[j], x)
			b.high[j] = sum
			lost |= math.Float64bits(rest)
		}
	}
	return lost == 0
}

// addInPairs makes b the sums of operands of type t, from the byte from to the byte to.
func (b *batch) addInPairs(t spec.Type, operands [][]byte, from, to int) {
	n := widen(t, b.high[:], operands[0][from:to])
	clear(b.low[:n])
	clear(b.lost[:n])
	for _, operand := range operands[1:] {
		widen(t, b.next[:], operand[from:to])
		for j, x := range b.next[:n] {
			high, low := twoSum(b.high[j], x)
			low, lost := twoSum(b.low[j], low)
			b.high[j], b.low[j] = high, low
			b.lost[j] += math.Abs(lost)
		}
	}
}

// round makes high number j the whole sum, rounded to nearest even or to odd. It reports whether that is known and
// finite.
func (b *batch) round(j int, odd bool) bool {
	high, low := b.high[j], b.low[j]
	x := high - (0 - low) // -0, if all were -0
	if b.lost[j] != 0 || x-x != 0 {
		return false
	}
	b.high[j] = x
	if _, below := twoSum(high, low); odd && below != 0 {
		b.high[j] = toOdd(x, below > 0)
	}
	return true
}

// toOdd returns the number with an odd last bit between which and x a value lies that is not x: above it, or below.
func toOdd(x float64, above bool) float64 {
	b := math.Float64bits(x)
	switch {
	case b&1 == 1:
	case above == (x > 0):
		b++
	default:
		b--
	}
	return math.Float64frombits(b)
}

// twoSum returns x+y, rounded to nearest, and what that leaves out (Knuth, The Art of Computer Programming, volume 2,
// 4.2.2, theorem B). Where the sum overflows, the latter is a NaN or an infinity.
func twoSum(x, y float64) (sum, rest float64) {
	sum = x + y
	y1 := sum - x
	return sum, (x - (sum - y1)) + (y - y1)
}

// float32Odd returns x, rounded to odd.
func float32Odd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		b--
	}
	return math.Float32frombits(b | 1)
}

// widen converts elements of type t, and returns how many.
func widen(t spec.Type, to []float64, from []byte) (n int) {
	switch t {
	case spec.TypeFloat8E4M3:
		return widenEach(to, view[spec.Float8E4M3](from), spec.Float8E4M3.Float32)
	case spec.TypeFloat8E5M2:
		return widenEach(to, view[spec.Float8E5M2](from), spec.Float8E5M2.Float32)
	case spec.TypeFloat16:
		return widenEach(to, view[spec.Float16](from), spec.Float16.Float32)
	case spec.TypeBFloat16:
		return widenEach(to, view[spec.BFloat16](from), spec.BFloat16.Float32)
	case spec.TypeFloat32:
		for i, x := range view[float32](from) {
			to[i] = float64(x)
		}
		return len(from) / 4
	}
	return copy(to, view[float64](from))
}

func widenEach[T any](to []float64, from []T, widen func(T) float32) int {
	for i, x := range from {
		to[i] = float64(widen(x))
	}
	return len(from)
}

// narrow converts back to elements of type t. Those that are shorter than float64 are rounded once more, and were
// rounded to odd before.
func narrow(t spec.Type, to []byte, from []float64) {
	switch t {
	case spec.TypeFloat8E4M3:
		narrowEach(view[spec.Float8E4M3](to), from, spec.NewFloat8E4M3)
	case spec.TypeFloat8E5M2:
		narrowEach(view[spec.Float8E5M2](to), from, spec.NewFloat8E5M2)
	case spec.TypeFloat16:
		narrowEach(view[spec.Float16](to), from, spec.NewFloat16)
	case spec.TypeBFloat16:
		narrowEach(view[spec.BFloat16](to), from, spec.NewBFloat16)
	case spec.TypeFloat32:
		to := view[float32](to)
		for i, x := range from {
			to[i] = float32(x)
		}
	default:
		copy(view[float64](to), from)
	}
}

func narrowEach[T any](to []T, from []float64, narrow func(float32) T) {
	for i, x := range from {
		to[i] = narrow(float32Odd(x))
	}
}
