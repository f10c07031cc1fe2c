package quantized

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// numbers returns the numbers of a format in ascending order, without the second 0.
func (f *format) numbers() (all []float32) {
	for code, x := range f.values {
		if math.Abs(float64(x)) <= float64(f.most) && !(x == 0 && (code > 0 || math.Signbit(float64(x)))) {
			all = append(all, x)
		}
	}
	slices.Sort(all)
	return all
}

// rounded returns what y is rounded to.
func (f *format) rounded(y float32) float32 {
	var code [1]byte
	f.round(code[:], []float32{y}, 1)
	return f.values[code[0]]
}

// roundingFault returns what is wrong with how a format rounds. Rounding goes to the nearest number at each number, in
// the middle between two, and next to these; between them it does because it is monotone, which is tried at some.
func (f *format) roundingFault() error {
	all := f.numbers()
	for i, x := range all {
		if got := f.rounded(x); got != x {
			return fmt.Errorf("%v is rounded to %v", x, got)
		}
		if i == 0 {
			continue
		}
		below := all[i-1]
		middle := (below + x) / 2
		if got := f.rounded(math.Nextafter32(middle, below)); got != below {
			return fmt.Errorf("just below %v, it is rounded to %v, want %v", middle, got, below)
		}
		if got := f.rounded(math.Nextafter32(middle, x)); got != x {
			return fmt.Errorf("just above %v, it is rounded to %v, want %v", middle, got, x)
		}
		if got := f.rounded(middle); got != x && got != below {
			return fmt.Errorf("%v is rounded to %v, want %v or %v", middle, got, below, x)
		}
		if off := math.Abs(float64(x - middle)); off > max(f.rel*math.Abs(float64(middle)), float64(f.tiny)/2)*(1+0x1p-50) {
			return fmt.Errorf("%v is rounded by %v", middle, off)
		}
	}
	return f.monotonyFault()
}

// monotonyFault returns an error unless larger floats are rounded to larger numbers: those whose lower 11 bits are 0,
// and those just below and above, up to the largest ones that are rounded.
func (f *format) monotonyFault() error {
	last := float32(0)
	for b := uint32(1 << 11); b <= math.Float32bits(f.most*(1+0x1p-20)); b += 1 << 11 {
		for _, b := range []uint32{b - 1, b, b + 1} {
			y := math.Float32frombits(b)
			up, down := f.rounded(y), f.rounded(-y)
			if up < last || up > f.most || down != -up {
				return fmt.Errorf("%v is rounded to %v, and %v to %v, after %v", y, up, -y, down, last)
			}
			last = up
		}
	}
	return nil
}

// TestRounding: numbers are rounded to the nearest one, and no further than the format says.
func TestRounding(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		if n := len(f.numbers()); n < 239 {
			t.Errorf("%s has %d numbers", f.name, n)
		}
		if err := f.roundingFault(); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// TestRoundingCanFail has formats that round otherwise, and such that promise too much.
func TestRoundingCanFail(t *testing.T) {
	for i := range formats {
		for name, change := range map[string]func(f *format){
			"toward 0": func(f *format) {
				right := f.round
				f.round = func(codes []byte, x []float32, by float32) {
					right(codes, []float32{float32(math.Nextafter(float64(x[0]*by), 0) * (1 - 0x1p-9))}, 1)
				}
			},
			"always up": func(f *format) {
				right := f.round
				f.round = func(codes []byte, x []float32, by float32) { right(codes, []float32{x[0] + f.tiny/4}, by) }
			},
			"less than tiny/2": func(f *format) { f.tiny *= 0.99; f.rel *= 0.99 },
		} {
			f := formats[i]
			change(&f)
			if f.roundingFault() == nil {
				t.Errorf("%s: %s", f.name, name)
			}
		}
	}
}

// TestScale: what the largest code of each sign stands for is finite, and within the bound, whatever the largest
// magnitude is; the scale is not subnormal, and neither is what the smallest code stands for.
func TestScale(t *testing.T) {
	const finite = uint32(infinity)
	tried := []uint32{0, 1, 2, finite - 1, finite - 2}
	for b := uint32(0); b < finite; b += 1<<12 + 1 {
		tried = append(tried, b)
	}
	for b := finite - 1<<16; b < finite; b++ {
		tried = append(tried, b)
	}
	for i := range formats {
		f := &formats[i]
		encoded, out := make([]byte, scaleBytes+2), make([]float32, 2)
		for _, b := range tried {
			largest := math.Float32frombits(b)
			s := f.scale(largest)
			if s*f.tiny < 0x1p-126 || !(s*f.most <= math.MaxFloat32) || !(1/s >= 0x1p-126 && 1/s <= math.MaxFloat32) {
				t.Fatalf("%s: the scale for %v is %v", f.name, largest, s)
			}
			f.encode(encoded, []float32{largest, -largest})
			f.decode(out, encoded)
			off, x := math.Abs(float64(out[0])-float64(largest)), float64(largest)
			if out[1] != -out[0] || off > f.bound(x, x) || x/float64(s) > float64(f.most)*(1+0x1p-20) {
				t.Fatalf("%s: %v becomes %v, with the scale %v", f.name, largest, out, s)
			}
		}
	}
}
