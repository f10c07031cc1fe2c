package quantized

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/spec"
)

// Format is a format of numbers of 8 bits.
type Format uint8

// The formats. Rounding to Int8 is off by at most 1/254 of the largest element of the block, whatever the element is.
// Rounding to the others is off by at most 1/17 and 1/9 of the element itself, if it is more than 1/26,900 and more
// than 1/800,000,000 of the largest one. For elements of similar magnitude Int8 is much closer than these.
const (
	Int8       Format = iota // -127 to 127
	Float8E4M3               // the floats of OFP8 up to 448
	Float8E5M2               // the floats of OFP8 up to 57,344
)

// String returns the name that the element type has.
func (f Format) String() string {
	if int(f) >= len(formats) {
		return fmt.Sprintf("format(%d)", uint8(f))
	}
	return formats[f].name
}

// format is what a Format is, and how numbers are rounded to it.
type format struct {
	name string
	most float32 // the largest number
	tiny float32 // the smallest one above 0
	// rel and tiny bound the error of rounding y to the nearest number: it is at most the larger one of rel·|y| and
	// tiny/2.
	rel    float64
	values *[256]float32 // of all codes
	// round writes the code of the number nearest to each x·by, an even one of two, where no |x·by| is more than
	// most·(1 + 2^-20).
	round func(codes []byte, x []float32, by float32)
}

var formats = [...]format{
	Int8: {"int8", 127, 1, 0, valuesOf(func(b uint8) float32 { return float32(int8(b)) }), roundInt8},
	Float8E4M3: {"float8e4m3", 448, 0x1p-9, 1.0 / 17,
		valuesOf(func(b uint8) float32 { return spec.Float8E4M3FromBits(b).Float32() }), roundE4M3},
	Float8E5M2: {"float8e5m2", 57344, 0x1p-16, 1.0 / 9,
		valuesOf(func(b uint8) float32 { return spec.Float8E5M2FromBits(b).Float32() }), roundE5M2},
}

func valuesOf(value func(b uint8) float32) *[256]float32 {
	all := new([256]float32)
	for b := range all {
		all[b] = value(uint8(b))
	}
	return all
}

// toInteger is a number whose last place is 1: adding it rounds to an integer, whose lower bits are the lower bits of
// the sum.
const toInteger = 0x1.8p23

func roundInt8(codes []byte, x []float32, by float32) {
	codes = codes[:len(x)]
	for i, x := range x {
		codes[i] = byte(math.Float32bits(float32(x*by) + toInteger))
	}
}

func roundE4M3(codes []byte, x []float32, by float32) {
	codes = codes[:len(x)]
	for i, x := range x {
		codes[i] = spec.NewFloat8E4M3(x * by).Bits()
	}
}

func roundE5M2(codes []byte, x []float32, by float32) {
	codes = codes[:len(x)]
	for i, x := range x {
		codes[i] = spec.NewFloat8E5M2(x * by).Bits()
	}
}

// leastScale returns the least scale of blocks: no product of it and a number, except 0, is subnormal.
func (f *format) leastScale() float32 { return 0x1p-126 / f.tiny }

// scale returns the scale of blocks whose largest magnitude is a number, largest. What the numbers stand for is finite.
func (f *format) scale(largest float32) float32 {
	s := max(largest/f.most, f.leastScale())
	if math.IsInf(float64(f.most*s), 0) { // largest/most was rounded up
		s = math.Nextafter32(s, 0)
	}
	return s
}
