package quantized

import (
	"encoding/binary"
	"math"
)

// A block is quantized as its scale, a float32 in little-endian order, and a code for each element.

// scaleBytes is the length of a scale.
const scaleBytes = 4

const (
	signBit  = 1 << 31
	infinity = 0x7f800000
	nan      = 0x7fc00000 // the scale of a block that has elements that are not finite
)

// encode quantizes the block x. Dst has the length of the outcome.
func (f *format) encode(dst []byte, x []float32) {
	codes := dst[scaleBytes:]
	largest := magnitude(x)
	if largest >= infinity {
		binary.LittleEndian.PutUint32(dst, nan)
		clear(codes)
		return
	}
	scale := f.scale(math.Float32frombits(largest))
	binary.LittleEndian.PutUint32(dst, math.Float32bits(scale))
	f.round(codes, x, 1/scale)
}

// magnitude returns the bits of the largest magnitude in x. Those of infinities are infinity, and those of NaN larger.
func magnitude(x []float32) (largest uint32) {
	for _, x := range x {
		largest = max(largest, math.Float32bits(x)&^signBit)
	}
	return largest
}

// decode fills dst with what a quantized block stands for. If it has elements that are not finite, all become the same
// NaN, which is that of the scale.
func (f *format) decode(dst []float32, src []byte) {
	scale, values := scaleOf(src), f.values
	codes := src[scaleBytes:][:len(dst)]
	for i, code := range codes {
		dst[i] = values[code] * scale
	}
}

// add adds what a quantized block stands for to sums.
func (f *format) add(sums []float32, src []byte) {
	scale, values := scaleOf(src), f.values
	codes := src[scaleBytes:][:len(sums)]
	for i, code := range codes {
		sums[i] += float32(values[code] * scale) // the conversion keeps the compiler from fusing both operations
	}
}

// scaleOf returns the scale of a quantized block: if it is a NaN, the one that encode writes.
func scaleOf(src []byte) float32 {
	scale := math.Float32frombits(binary.LittleEndian.Uint32(src))
	if scale != scale {
		return math.Float32frombits(nan)
	}
	return scale
}
