package spec

import (
	"math"
	"strconv"
)

// Float16 is an IEEE 754 binary16 number: 1 bit of sign, 5 of exponent, 10 of fraction. The zero Float16 is +0.
type Float16 struct{ bits uint16 }

// BFloat16 is the upper half of a float32: 1 bit of sign, 8 of exponent, 7 of fraction. The zero BFloat16 is +0.
type BFloat16 struct{ bits uint16 }

// Float16FromBits returns the number that b encodes.
func Float16FromBits(b uint16) Float16 { return Float16{b} }

// BFloat16FromBits returns the number that b encodes.
func BFloat16FromBits(b uint16) BFloat16 { return BFloat16{b} }

// Bits returns x's encoding.
func (x Float16) Bits() uint16 { return x.bits }

// Bits returns x's encoding.
func (x BFloat16) Bits() uint16 { return x.bits }

// String returns x as strconv writes a float32.
func (x Float16) String() string { return text32(x.Float32()) }

// String returns x as strconv writes a float32.
func (x BFloat16) String() string { return text32(x.Float32()) }

func text32(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

// NewFloat16 returns f rounded to nearest, ties to even. What is too large becomes an infinity; a NaN stays one, with
// its sign and the upper bits of its payload, and becomes quiet.
func NewFloat16(f float32) Float16 {
	b := math.Float32bits(f)
	sign, magnitude := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return Float16{sign | 0x7e00 | uint16(magnitude>>13)&0x1ff}
	case magnitude >= 0x477ff000: // at least 65520, halfway from the largest Float16 to the next power of two
		return Float16{sign | 0x7c00}
	case magnitude < 0x38800000: // less than 2^-14: a multiple of 2^-24, which the addition of 1/2 rounds to
		return Float16{sign | uint16(math.Float32bits(math.Float32frombits(magnitude)+0.5)-math.Float32bits(0.5))}
	}
	// Rebase the exponent from 127 to 15, and add just less than half of the last place, or half when that is odd.
	return Float16{sign | uint16((magnitude-(127-15)<<23+0xfff+magnitude>>13&1)>>13)}
}

// Float32 returns x, exactly; a signaling NaN becomes quiet.
func (x Float16) Float32() float32 {
	sign, magnitude := uint32(x.bits)<<16&0x80000000, uint32(x.bits)&0x7fff
	switch {
	case magnitude > 0x7c00:
		return math.Float32frombits(sign | 0x7fc00000 | magnitude<<13)
	case magnitude == 0x7c00:
		return math.Float32frombits(sign | 0x7f800000)
	case magnitude < 0x0400: // a multiple of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(magnitude)*0x1p-24))
	}
	return math.Float32frombits(sign | (magnitude<<13 + (127-15)<<23))
}

// NewBFloat16 returns f rounded to nearest, ties to even. What is too large becomes an infinity; a NaN stays one, with
// its sign and the upper bits of its payload, and becomes quiet.
func NewBFloat16(f float32) BFloat16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat16{uint16(b>>16) | 0x0040}
	}
	return BFloat16{uint16((b + 0x7fff + b>>16&1) >> 16)}
}

// Float32 returns x, exactly; a NaN keeps its bits.
func (x BFloat16) Float32() float32 { return math.Float32frombits(uint32(x.bits) << 16) }
