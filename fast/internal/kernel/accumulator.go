package kernel

import (
	"math"
	"math/bits"
)

// accumulator is a fixed-point number that holds every sum of up to 2^31 float64 exactly, after Kulisch. The two lowest
// digits stay 0. Digit i of the others counts 2^(32(i-2)) times the least float64, and takes carries only when the sum
// is read.
type accumulator struct {
	digits           [2 + 66 + 1]int64
	plus, minus, nan bool // an infinity or a NaN was added
}

// add adds x.
func (a *accumulator) add(x float64) {
	b := math.Float64bits(x)
	mantissa, exponent := b&(1<<52-1), int(b>>52&(1<<11-1))
	switch {
	case exponent == 1<<11-1:
		a.nan = a.nan || mantissa != 0
		a.plus, a.minus = a.plus || x > 0, a.minus || x < 0
		return
	case exponent > 0:
		mantissa |= 1 << 52
		exponent--
	}
	digits := a.digits[2+exponent/32:]
	high, low := bits.Mul64(mantissa, 1<<(exponent%32))
	for i, part := range [...]uint64{low & math.MaxUint32, low >> 32, high} {
		if n := int64(part); x < 0 {
			digits[i] -= n
		} else {
			digits[i] += n
		}
	}
}

// sum returns the sum: rounded to nearest even, or to odd, so that it may be rounded once more to a shorter type (Boldo
// and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). It returns +0 if the sum is 0.
func (a *accumulator) sum(odd bool) float64 {
	switch {
	case a.nan || a.plus && a.minus:
		return math.NaN()
	case a.plus:
		return math.Inf(1)
	case a.minus:
		return math.Inf(-1)
	}
	negative := a.carry()
	top := len(a.digits) - 1
	for top > 2 && a.digits[top] == 0 {
		top--
	}
	// The 64 highest bits; the lowest of them also stands for all below.
	head, next := uint64(a.digits[top])<<32|uint64(a.digits[top-1]), uint64(a.digits[top-2])
	shift := bits.LeadingZeros64(head | 1)
	rest := next << shift & math.MaxUint32
	head = head<<shift | next<<shift>>32
	for i := 2; i < top-2 && rest == 0; i++ {
		rest = uint64(a.digits[i])
	}
	if rest != 0 {
		head |= 1
	}
	const surplus = 64 - 53
	if odd && head&(1<<surplus-1) != 0 {
		head = (head>>surplus | 1) << surplus
	}
	x := math.Ldexp(float64(head), 32*(top-3)-1074-shift) // to nearest even, unless it has 53 bits
	if negative {
		return -x
	}
	return x
}

// carry makes the digits those of the sum's absolute value, from 0 to 2^32-1, and reports whether the sum is negative.
func (a *accumulator) carry() (negative bool) {
	if a.propagate(); a.digits[len(a.digits)-1] >= 0 {
		return false
	}
	for i := range a.digits {
		a.digits[i] = -a.digits[i]
	}
	a.propagate()
	return true
}

// propagate moves what exceeds 32 bits of a digit to the next one. The highest digit keeps the sign.
func (a *accumulator) propagate() {
	for i := range len(a.digits) - 1 {
		a.digits[i+1] += a.digits[i] >> 32
		a.digits[i] &= math.MaxUint32
	}
}
