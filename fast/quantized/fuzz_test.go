package quantized

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// FuzzBlock: any bytes of a peer are numbers of a block, and a block of any numbers that is quantized is within the
// bound, or NaN where one of them is no number.
func FuzzBlock(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 0x80, 0x3f, 1, 2, 0x80, 0xff})
	f.Add(uint8(1), []byte{0, 0, 0xc0, 0x7f, 1, 2, 0x80, 0x7f})
	f.Add(uint8(2), []byte{0xff, 0xff, 0x7f, 0x7f, 0, 0, 0x80, 0xff, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		if len(data) < scaleBytes {
			return
		}
		f := &formats[int(which)%len(formats)]
		out := make([]float32, len(data)-scaleBytes)
		sums := make([]float32, len(out))
		f.decode(out, data)
		f.add(sums, data)
		for i := range out {
			if sums[i] != out[i] && (sums[i] == sums[i] || out[i] == out[i]) {
				t.Errorf("%v is added as %v", out[i], sums[i])
			}
		}
		var x []float32
		for at := 0; at+4 <= len(data); at += 4 {
			x = append(x, math.Float32frombits(binary.LittleEndian.Uint32(data[at:])))
		}
		encoded, largest := bytes.Repeat([]byte{0xff}, scaleBytes+len(x)), largestOf(x)
		f.encode(encoded, x)
		out = make([]float32, len(x))
		f.decode(out, encoded)
		for i := range x {
			finite := largest <= math.MaxFloat32
			off, bound := math.Abs(float64(out[i])-float64(x[i])), f.bound(math.Abs(float64(x[i])), float64(largest))
			if finite && !(off <= bound) || !finite && math.Float32bits(out[i]) != nan {
				t.Errorf("%v of %v becomes %v", x[i], x, out[i])
			}
		}
	})
}
