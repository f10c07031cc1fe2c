package spec_test

import (
	"math"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// format is one of the 16-bit formats, as this test sees it: the value of an encoding is worked out with powers of two.
type format struct {
	name     string
	fraction int // bits of the fraction
	bias     int
	widen    func(uint16) float32
	narrow   func(float32) uint16
}

var formats = []format{
	{"float16", 10, 15,
		func(b uint16) float32 { return spec.Float16FromBits(b).Float32() },
		func(f float32) uint16 { return spec.NewFloat16(f).Bits() }},
	{"bfloat16", 7, 127,
		func(b uint16) float32 { return spec.BFloat16FromBits(b).Float32() },
		func(f float32) uint16 { return spec.NewBFloat16(f).Bits() }},
}

// inf returns the encoding of +Inf.
func (f format) inf() uint16 { return 0x7fff >> f.fraction << f.fraction }

// value returns the number that a finite encoding stands for. For inf it is the number that would come next if there
// were no infinity, which is what decides on rounding.
func (f format) value(b uint16) float64 {
	exponent, fraction := int(b&0x7fff>>f.fraction), float64(b&(1<<f.fraction-1))
	v := math.Ldexp(fraction, 1-f.bias-f.fraction)
	if exponent > 0 {
		v = math.Ldexp(fraction+math.Ldexp(1, f.fraction), exponent-f.bias-f.fraction)
	}
	if b&0x8000 != 0 {
		return -v
	}
	return v
}

func TestWideningIsExact(t *testing.T) {
	for _, f := range formats {
		for i := range 1 << 16 {
			b := uint16(i)
			got, isNaN := f.widen(b), b&0x7fff > f.inf()
			switch {
			case isNaN != math.IsNaN(float64(got)):
				t.Fatalf("%s %#04x is %v", f.name, b, got)
			case isNaN:
			case b&0x7fff == f.inf():
				if sign := 1 - int(b>>15)*2; !math.IsInf(float64(got), sign) {
					t.Fatalf("%s %#04x is %v", f.name, b, got)
				}
			case float64(got) != f.value(b) || math.Signbit(float64(got)) != (b&0x8000 != 0):
				t.Fatalf("%s %#04x is %v, want %v", f.name, b, got, f.value(b))
			}
		}
	}
}

// TestRoundTrip: every number survives the way to float32 and back; a NaN keeps its sign and payload, but is quiet
// then.
func TestRoundTrip(t *testing.T) {
	for _, f := range formats {
		quiet := uint16(1) << (f.fraction - 1)
		for i := range 1 << 16 {
			b := uint16(i)
			want := b
			if b&0x7fff > f.inf() {
				want |= quiet
			}
			if got := f.narrow(f.widen(b)); got != want {
				t.Fatalf("%s %#04x comes back as %#04x, want %#04x", f.name, b, got, want)
			}
		}
	}
}

// TestRounding looks around every midpoint between neighbours: below it, at it, and above it. The midpoint above the
// largest number decides on infinity.
func TestRounding(t *testing.T) {
	for _, f := range formats {
		for b := range f.inf() {
			for _, sign := range []uint16{0, 0x8000} {
				low, high := b|sign, b+1|sign
				mid := float32((f.value(low) + f.value(high)) / 2)
				if float64(mid) != (f.value(low)+f.value(high))/2 {
					t.Fatalf("%s: the midpoint above %#04x is not a float32", f.name, low)
				}
				even := low + low&1 // in magnitude: the sign bit is not touched, because b < inf
				outward := float32(math.Inf(1 - int(sign>>15)*2))
				for _, c := range []struct {
					from float32
					want uint16
				}{{math.Nextafter32(mid, 0), low}, {mid, even}, {math.Nextafter32(mid, outward), high}} {
					if got := f.narrow(c.from); got != c.want {
						t.Fatalf("%s: %v (%#08x) becomes %#04x, want %#04x", f.name, c.from, math.Float32bits(c.from), got, c.want)
					}
				}
			}
		}
	}
}

// TestNarrowing compares any float32 with the nearest of the two neighbours of what it becomes.
func TestNarrowing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		for _, f := range formats {
			got := f.narrow(x)
			switch magnitude := got & 0x7fff; {
			case x != x:
				if magnitude <= f.inf() || magnitude&(1<<(f.fraction-1)) == 0 || got>>15 != uint16(math.Float32bits(x)>>31) {
					t.Fatalf("%s: NaN %#08x becomes %#04x", f.name, math.Float32bits(x), got)
				}
			case math.IsInf(float64(x), 0):
				if magnitude != f.inf() {
					t.Fatalf("%s: %v becomes %#04x", f.name, x, got)
				}
			default:
				here := math.Abs(f.value(got) - float64(x))
				for _, d := range []uint16{1, 0xffff} {
					if n := magnitude + d; n <= f.inf() && math.Abs(f.value(n|got&0x8000)-float64(x)) < here {
						t.Fatalf("%s: %v becomes %#04x, but %#04x is nearer", f.name, x, got, n)
					}
				}
			}
		}
	})
}

func TestFloat16String(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{spec.NewFloat16(0.1).String(), "0.099975586"},
		{spec.NewFloat16(65504).String(), "65504"},
		{spec.NewFloat16(float32(math.Inf(-1))).String(), "-Inf"},
		{spec.NewBFloat16(0.1).String(), "0.100097656"},
		{spec.NewBFloat16(float32(math.Copysign(0, -1))).String(), "-0"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
