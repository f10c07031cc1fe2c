package spec

import "math"

// The two formats of the OCP 8-bit Floating Point Specification (OFP8), Revision 1.0.

// Float8E4M3 is a number of 8 bits: 1 bit of sign, 4 of exponent, 3 of fraction. It has no infinities, and one NaN of
// each sign, whose other bits are all set; the largest number is 448. The zero Float8E4M3 is +0.
type Float8E4M3 struct{ bits uint8 }

// Float8E5M2 is a number of 8 bits: 1 bit of sign, 5 of exponent, 2 of fraction, with infinities and NaN as those of
// IEEE 754. The zero Float8E5M2 is +0.
type Float8E5M2 struct{ bits uint8 }

// Float8E4M3FromBits returns the number that b encodes.
func Float8E4M3FromBits(b uint8) Float8E4M3 { return Float8E4M3{b} }

// Float8E5M2FromBits returns the number that b encodes.
func Float8E5M2FromBits(b uint8) Float8E5M2 { return Float8E5M2{b} }

// Bits returns x's encoding.
func (x Float8E4M3) Bits() uint8 { return x.bits }

// Bits returns x's encoding.
func (x Float8E5M2) Bits() uint8 { return x.bits }

// String returns x as strconv writes a float32.
func (x Float8E4M3) String() string { return text32(x.Float32()) }

// String returns x as strconv writes a float32.
func (x Float8E5M2) String() string { return text32(x.Float32()) }

// NewFloat8E4M3 returns f rounded to nearest, ties to even. What is too large becomes a NaN, and so does an infinity;
// the sign stays.
func NewFloat8E4M3(f float32) Float8E4M3 {
	b := math.Float32bits(f)
	sign, magnitude := uint8(b>>24)&0x80, b&0x7fffffff
	switch {
	case magnitude > 0x43e80000: // more than 464, halfway from 448 to what would be the next number
		return Float8E4M3{sign | 0x7f}
	case magnitude < 0x3c800000: // less than 2^-6: a multiple of 2^-9, which the addition of 2^14 rounds to
		return Float8E4M3{sign | uint8(math.Float32bits(math.Float32frombits(magnitude)+1<<14)-math.Float32bits(1<<14))}
	}
	// Rebase the exponent from 127 to 7, and add just less than half of the last place, or half when that is odd.
	return Float8E4M3{sign | uint8((magnitude-(127-7)<<23+0x7ffff+magnitude>>20&1)>>20)}
}

// NewFloat8E5M2 returns f rounded to nearest, ties to even. What is too large becomes an infinity. A NaN stays one,
// with its sign and the upper bit of its payload, and becomes quiet.
func NewFloat8E5M2(f float32) Float8E5M2 {
	b := math.Float32bits(f)
	sign, magnitude := uint8(b>>24)&0x80, b&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return Float8E5M2{sign | 0x7e | uint8(magnitude>>21)&1}
	case magnitude >= 0x47700000: // at least 61440, halfway from the largest number to the next power of two
		return Float8E5M2{sign | 0x7c}
	case magnitude < 0x38800000: // less than 2^-14: a multiple of 2^-16, which the addition of 2^7 rounds to
		return Float8E5M2{sign | uint8(math.Float32bits(math.Float32frombits(magnitude)+1<<7)-math.Float32bits(1<<7))}
	}
	return Float8E5M2{sign | uint8((magnitude-(127-15)<<23+0xfffff+magnitude>>21&1)>>21)}
}

// Float32 returns x, exactly.
func (x Float8E4M3) Float32() float32 { return valuesE4M3[x.bits] }

// Float32 returns x, exactly; a signaling NaN becomes quiet.
func (x Float8E5M2) Float32() float32 { return valuesE5M2[x.bits] }

var valuesE4M3, valuesE5M2 = values8(3, 7, 0x7f), values8(2, 15, 0x7d)

// values8 returns the numbers that all encodings in a format stand for, with so many bits of fraction and that bias.
// Magnitudes from nan on are NaN. An exponent of 31, which only Float8E5M2 has, is otherwise that of an infinity.
func values8(fraction, bias int, nan uint32) (all [256]float32) {
	for b := range uint32(256) {
		sign, magnitude := b>>7<<31, b&0x7f
		exponent, digits := int(magnitude>>fraction), magnitude&(1<<fraction-1)
		var x uint32
		switch {
		case magnitude >= nan:
			x = 0x7fc00000 | digits<<(23-fraction)
		case exponent == 31:
			x = 0x7f800000
		case exponent == 0:
			x = math.Float32bits(float32(math.Ldexp(float64(digits), 1-bias-fraction)))
		default:
			x = math.Float32bits(float32(math.Ldexp(float64(digits|1<<fraction), exponent-bias-fraction)))
		}
		all[b] = math.Float32frombits(sign | x)
	}
	return all
}
