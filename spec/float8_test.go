package spec_test

import (
	"math"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// format8 is one of the 8-bit formats, as this test sees it: OFP8's tables 1 and 2.
type format8 struct {
	name           string
	fraction, bias int
	largest        uint8   // encoding of the largest number
	beyond         uint8   // what is too large becomes that
	nans           []uint8 // all of one sign
	widen          func(uint8) float32
	narrow         func(float32) uint8
}

var formats8 = []format8{
	{"float8e4m3", 3, 7, 0x7e, 0x7f, []uint8{0x7f},
		func(b uint8) float32 { return spec.Float8E4M3FromBits(b).Float32() },
		func(f float32) uint8 { return spec.NewFloat8E4M3(f).Bits() }},
	{"float8e5m2", 2, 15, 0x7b, 0x7c, []uint8{0x7d, 0x7e, 0x7f},
		func(b uint8) float32 { return spec.Float8E5M2FromBits(b).Float32() },
		func(f float32) uint8 { return spec.NewFloat8E5M2(f).Bits() }},
}

// value returns the number of an encoding without sign. Of the one after the largest it is the number that would come
// next, which is what decides on rounding.
func (f format8) value(b uint8) float64 {
	exponent, fraction := int(b>>f.fraction), float64(b&(1<<f.fraction-1))
	if exponent == 0 {
		return math.Ldexp(fraction, 1-f.bias-f.fraction)
	}
	return math.Ldexp(1+math.Ldexp(fraction, -f.fraction), exponent-f.bias)
}

// TestFloat8Values checks all 256 encodings, and that each survives the way to float32 and back. A NaN is quiet then.
func TestFloat8Values(t *testing.T) {
	for _, f := range formats8 {
		for _, sign := range []uint8{0, 0x80} {
			negative := sign != 0
			for b := range f.largest + 1 {
				got, want := float64(f.widen(b|sign)), f.value(b)
				if math.Abs(got) != want || math.Signbit(got) != negative || f.narrow(float32(got)) != b|sign {
					t.Errorf("%s %#02x is %v, and comes back as %#02x; want %v", f.name, b|sign, got, f.narrow(float32(got)), want)
				}
			}
			for _, b := range f.nans {
				got, quiet := f.widen(b|sign), b|1<<(f.fraction-1)|sign
				if got == got || math.Signbit(float64(got)) != negative || f.narrow(got) != quiet ||
					math.Float32bits(got)&0x00400000 == 0 {
					t.Errorf("%s %#02x is %v (%#08x), and comes back as %#02x", f.name, b|sign, got, math.Float32bits(got),
						f.narrow(got))
				}
			}
		}
	}
	for sign, b := range map[int]uint8{1: 0x7c, -1: 0xfc} {
		inf := float32(math.Inf(sign))
		if got := spec.Float8E5M2FromBits(b).Float32(); got != inf || spec.NewFloat8E5M2(inf).Bits() != b {
			t.Errorf("%#02x is %v", b, got)
		}
		if got := spec.NewFloat8E4M3(inf); got.Bits() != b|0x7f {
			t.Errorf("%v becomes %v", inf, got)
		}
	}
}

// TestFloat8Documented has what the specification's table 2 lists.
func TestFloat8Documented(t *testing.T) {
	for _, x := range []struct{ got, want float32 }{
		{spec.Float8E4M3FromBits(0x7e).Float32(), 448}, {spec.Float8E5M2FromBits(0x7b).Float32(), 57344},
		{spec.Float8E4M3FromBits(0x08).Float32(), 0x1p-6}, {spec.Float8E5M2FromBits(0x04).Float32(), 0x1p-14},
		{spec.Float8E4M3FromBits(0x07).Float32(), 0.875 * 0x1p-6}, {spec.Float8E5M2FromBits(0x03).Float32(), 0.75 * 0x1p-14},
		{spec.Float8E4M3FromBits(0x01).Float32(), 0x1p-9}, {spec.Float8E5M2FromBits(0x01).Float32(), 0x1p-16},
		{spec.Float8E4M3FromBits(0xb8).Float32(), -1}, {spec.Float8E5M2FromBits(0xbc).Float32(), -1},
	} {
		if x.got != x.want {
			t.Errorf("got %v, want %v", x.got, x.want)
		}
	}
}

// TestFloat8Rounding looks around every midpoint between neighbours: below it, at it, and above it. The midpoint above
// the largest number decides on what is too large: at it, a largest number whose last bit is 0 stays.
func TestFloat8Rounding(t *testing.T) {
	for _, f := range formats8 {
		for low := range f.largest + 1 {
			for _, sign := range []uint8{0, 0x80} {
				high := low + 1
				if low == f.largest {
					high = f.beyond
				}
				even := low
				if low&1 == 1 {
					even = high
				}
				mid := float32((f.value(low) + f.value(low+1)) / 2)
				for _, c := range []struct {
					from float32
					want uint8
				}{{math.Nextafter32(mid, 0), low}, {mid, even}, {math.Nextafter32(mid, math.MaxFloat32), high}} {
					from := float32(math.Copysign(float64(c.from), 1-float64(sign)))
					if got := f.narrow(from); got != c.want|sign {
						t.Errorf("%s: %v becomes %#02x, want %#02x", f.name, from, got, c.want|sign)
					}
				}
			}
		}
		for _, large := range []float32{math.MaxFloat32, 65536, -math.MaxFloat32} {
			if got := f.narrow(large); got&0x7f != f.beyond || (got&0x80 != 0) != (large < 0) {
				t.Errorf("%s: %v becomes %#02x", f.name, large, got)
			}
		}
	}
}

// TestFloat8Narrowing compares any float32 with the nearest number, which is found among all.
func TestFloat8Narrowing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		for _, f := range formats8 {
			got, sign, want := f.narrow(x), uint8(math.Float32bits(x)>>31<<7), uint8(0)
			if x != x {
				if y := f.widen(got); y == y || got&0x80 != sign {
					t.Fatalf("%s: NaN %#08x becomes %#02x", f.name, math.Float32bits(x), got)
				}
				continue
			}
			magnitude := min(math.Abs(float64(x)), 1<<20) // so that differences are exact where they have to be
			for b := range f.largest + 2 {
				before, here := math.Abs(f.value(want)-magnitude), math.Abs(f.value(b)-magnitude)
				if here < before || here == before && b&1 == 0 {
					want = b
				}
			}
			if want > f.largest {
				want = f.beyond
			}
			if got != want|sign {
				t.Fatalf("%s: %v becomes %#02x, want %#02x", f.name, x, got, want|sign)
			}
		}
	})
}

func TestFloat8String(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{spec.NewFloat8E4M3(0.1).String(), "0.1015625"},
		{spec.NewFloat8E4M3(1000).String(), "NaN"},
		{spec.NewFloat8E5M2(0.1).String(), "0.09375"},
		{spec.NewFloat8E5M2(-1e6).String(), "-Inf"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
