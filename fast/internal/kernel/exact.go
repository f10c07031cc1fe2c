package kernel

import (
	"math"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// ExactFor returns what sums many operands of type t so that each element is the exact sum, rounded once to nearest
// even: the same whatever the order of the operands. It is nil where t has no floats, whose sums depend on the order.
//
// Each sum is kept as two float64 whose errors are observed (Knuth's two-sum). Where these do not hold it exactly, or
// it is not finite, an accumulator sums that element anew.
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
	f := exactSums[t]
	if f == nil {
		return nil
	}
	quick := m.exact[t]
	if quick == nil {
		return func(dst []byte, operands [][]byte) { f(dst, operands, 0, len(dst)) }
	}
	return func(dst []byte, operands [][]byte) {
		for at := 0; ; at += quickPiece {
			if at = quick(dst, operands, at); at >= len(dst) {
				return
			}
			f(dst, operands, at, min(at+quickPiece, len(dst)))
		}
	}
}

// quickSum sums operands, two or more, as ExactFor says, from the byte from on, as far as vectors reach and no sum
// needs an accumulator. It returns the byte up to which it has. It has written nothing beyond.
type quickSum func(dst []byte, operands [][]byte, from int) (to int)

// quickPiece is how many bytes are summed otherwise before a quickSum goes on.
const quickPiece = 128

// exactSum sums operands as ExactFor says, from the byte from to the byte to.
type exactSum func(dst []byte, operands [][]byte, from, to int)

// exactSums are those of all types that have floats.
var exactSums = row[exactSum]{
	spec.TypeFloat16: exactly(func(x spec.Float16) float64 { return float64(x.Float32()) },
		func(x float64) spec.Float16 { return spec.NewFloat16(float32Odd(x)) }, true),
	spec.TypeBFloat16: exactly(func(x spec.BFloat16) float64 { return float64(x.Float32()) },
		func(x float64) spec.BFloat16 { return spec.NewBFloat16(float32Odd(x)) }, true),
	spec.TypeFloat32:    exactFloat32,
	spec.TypeFloat64:    exactFloat64,
	spec.TypeComplex64:  exactFloat32,
	spec.TypeComplex128: exactFloat64,
}

var (
	exactFloat32 = exactly(func(x float32) float64 { return float64(x) }, func(x float64) float32 { return float32(x) },
		true)
	exactFloat64 = exactly(func(x float64) float64 { return x }, func(x float64) float64 { return x }, false)
)

// exactly returns the sum of elements that float64 has all of. If odd, narrow gets sums that were rounded to odd.
func exactly[T any](widen func(T) float64, narrow func(float64) T, odd bool) exactSum {
	return func(dst []byte, operands [][]byte, from, to int) {
		const many = 32 // elements at a time
		size := int(unsafe.Sizeof(*new(T)))
		for ; from < to; from += many * size {
			var sums [many]pair
			into := view[T](dst[from:min(from+many*size, to)])
			for i := range operands {
				for j, x := range view[T](operands[i][from : from+len(into)*size]) {
					sums[j].add(widen(x), i == 0)
				}
			}
			var results [many]T // dst may be one of the operands, which an accumulator reads again
			for j := range into {
				x, ok := sums[j].sum(odd)
				if !ok {
					x = accumulated(operands, from+j*size, widen, odd)
				}
				results[j] = narrow(x)
			}
			copy(into, results[:])
		}
	}
}

// accumulated returns the sum of the elements at a byte of the operands.
func accumulated[T any](operands [][]byte, at int, widen func(T) float64, odd bool) float64 {
	var a accumulator
	for _, operand := range operands {
		a.add(widen(view[T](operand[at:])[0]))
	}
	return a.sum(odd)
}

// pair is a sum as that of two numbers. It is exact as long as lost is 0.
type pair struct{ high, low, lost float64 }

// add adds x, as the first number or a further one. All that is lost adds up to a number other than 0, as a NaN is.
func (p *pair) add(x float64, first bool) {
	if first {
		p.high = x
		return
	}
	high, low := twoSum(p.high, x)
	low, lost := twoSum(p.low, low)
	p.high, p.low, p.lost = high, low, p.lost+math.Abs(lost)
}

// sum returns the sum, rounded to nearest even or to odd. It is not ok if that is not known, or not finite.
func (p *pair) sum(odd bool) (x float64, ok bool) {
	x = p.high - (0 - p.low) // -0, if all were -0
	if p.lost != 0 || x-x != 0 {
		return 0, false
	}
	if !odd {
		return x, true
	}
	_, below := twoSum(p.high, p.low)
	b := math.Float64bits(x)
	switch {
	case below == 0 || b&1 == 1:
	case below > 0 == (x > 0):
		b++
	default:
		b--
	}
	return math.Float64frombits(b), true
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
