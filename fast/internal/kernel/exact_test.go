package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// exactReference is what exact sums are compared with.
var exactReference = map[spec.Type]func(dst []byte, operands [][]byte){
	spec.TypeFloat8E4M3: exactBy[spec.Float8E4M3],
	spec.TypeFloat8E5M2: exactBy[spec.Float8E5M2],
	spec.TypeFloat16:    exactBy[spec.Float16],
	spec.TypeBFloat16:   exactBy[spec.BFloat16],
	spec.TypeFloat32:    exactBy[float32],
	spec.TypeFloat64:    exactBy[float64],
	spec.TypeComplex64:  exactBy[complex64],
	spec.TypeComplex128: exactBy[complex128],
}

func exactBy[T spec.Float8E4M3 | spec.Float8E5M2 | spec.Float16 | spec.BFloat16 | float32 | float64 | complex64 |
	complex128](dst []byte, operands [][]byte) {
	xs := make([]T, len(operands))
	for i := range view[T](dst) {
		for j, operand := range operands {
			xs[j] = view[T](operand)[i]
		}
		view[T](dst)[i] = ref.ExactSum(xs...)
	}
}

// forExact tests the exact sum of each type that has floats, in each implementation that this processor can run.
func forExact(t *testing.T, test func(*testing.T, spec.Type, Many)) {
	forImplementations(t, func(t *testing.T, m *implementation) {
		for _, typ := range spec.Types() {
			if f := m.exactFor(typ); f != nil {
				t.Run(typ.String(), func(t *testing.T) { test(t, typ, f) })
			}
		}
	})
}

// TestExact compares 30,000 sums and more of 2 to 17 operands of each type with the exact ones, in random orders, out
// of place and in place.
func TestExact(t *testing.T) {
	forExact(t, func(t *testing.T, typ spec.Type, sum Many) {
		if err := checkExact(sum, typ); err != nil {
			t.Error(err)
		}
	})
}

// TestExactFor: what has no floats needs no exact sum, because its sums are exact.
func TestExactFor(t *testing.T) {
	for typ := range spec.TypeFloat8E5M2 + 3 {
		if got := ExactFor(typ) != nil; got != (exactReference[typ] != nil) {
			t.Errorf("%v: an exact sum: %v", typ, got)
		}
	}
}

// exactSize is how many bytes the operands of checkExact have: pieces of vectors, and a rest.
const exactSize = 17*quickPiece + 16*3

func checkExact(sum Many, typ spec.Type) error {
	random := rand.New(rand.NewPCG(5, uint64(typ)))
	for n := 2; n <= 17; n++ {
		for kind := range values {
			operands := make([][]byte, n)
			for i := range operands {
				operands[i] = make([]byte, exactSize)
			}
			values[kind](random, typ, operands)
			want := make([]byte, exactSize)
			exactReference[typ](want, operands)
			for _, into := range []int{-1, 0, n - 1} {
				dst := make([]byte, exactSize)
				if into >= 0 {
					dst = bytes.Clone(operands[into])
				}
				all := slices.Clone(operands)
				if into >= 0 {
					all[into] = dst
				}
				random.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
				sum(dst, all)
				if err := kinds[typ].difference(typ.Bytes(), dst, want); err != nil {
					return fmt.Errorf("%s, %d operands, into operand %d: %w", kind, n, into, err)
				}
			}
		}
	}
	return nil
}

// values are kinds of operands.
var values = map[string]func(random *rand.Rand, typ spec.Type, operands [][]byte){
	"ordinary": filled(spectest.Ordinary),
	"special":  filled(spectest.Special),
	"any bits": filled(spectest.AnyBits),
	"mixed":    filled(spectest.Mixed),
	"cancelling": func(random *rand.Rand, typ spec.Type, operands [][]byte) {
		filled(spectest.AnyBits)(random, typ, operands)
		for i := 0; i+2 < len(operands); i += 2 {
			copy(operands[i+1], operands[i])
			negate(typ, operands[i+1])
		}
	},
	"negative zeros": func(random *rand.Rand, typ spec.Type, operands [][]byte) {
		for i := range operands {
			clear(operands[i])
			negate(typ, operands[i])
		}
		for range 100 {
			clear(operands[random.IntN(len(operands))][random.IntN(exactSize/16)*16:][:16])
		}
	},
	"halfway": func(random *rand.Rand, typ spec.Type, operands [][]byte) { // ties, and what a little more decides
		filled(spectest.Ordinary)(random, typ, operands)
		for i := 1; i < len(operands); i++ {
			for at := 0; at < exactSize; at += floatBytes(typ) {
				x := operands[0][at:]
				putFloat(typ, operands[i][at:], math.Ldexp(getFloat(typ, x), -1-random.IntN(60)*random.IntN(2)))
			}
		}
	},
}

func filled(kind spectest.Kind) func(random *rand.Rand, typ spec.Type, operands [][]byte) {
	return func(random *rand.Rand, typ spec.Type, operands [][]byte) {
		for i := range operands {
			kinds[typ].fill(random, kind, operands[i])
		}
	}
}

// floatBytes returns the size of a float of typ, of which complex numbers have two.
func floatBytes(typ spec.Type) int {
	if typ == spec.TypeComplex64 || typ == spec.TypeComplex128 {
		return typ.Bytes() / 2
	}
	return typ.Bytes()
}

// negate changes the sign of all floats of data.
func negate(typ spec.Type, data []byte) {
	for i := floatBytes(typ) - 1; i < len(data); i += floatBytes(typ) {
		data[i] ^= 0x80
	}
}

// getFloat returns the first float of data.
func getFloat(typ spec.Type, data []byte) float64 {
	switch typ {
	case spec.TypeFloat8E4M3:
		return float64(view[spec.Float8E4M3](data)[0].Float32())
	case spec.TypeFloat8E5M2:
		return float64(view[spec.Float8E5M2](data)[0].Float32())
	case spec.TypeFloat16:
		return float64(view[spec.Float16](data)[0].Float32())
	case spec.TypeBFloat16:
		return float64(view[spec.BFloat16](data)[0].Float32())
	case spec.TypeFloat32, spec.TypeComplex64:
		return float64(view[float32](data)[0])
	}
	return view[float64](data)[0]
}

// putFloat sets the first float of data.
func putFloat(typ spec.Type, data []byte, x float64) {
	switch typ {
	case spec.TypeFloat8E4M3:
		view[spec.Float8E4M3](data)[0] = spec.NewFloat8E4M3(float32(x))
	case spec.TypeFloat8E5M2:
		view[spec.Float8E5M2](data)[0] = spec.NewFloat8E5M2(float32(x))
	case spec.TypeFloat16:
		view[spec.Float16](data)[0] = spec.NewFloat16(float32(x))
	case spec.TypeBFloat16:
		view[spec.BFloat16](data)[0] = spec.NewBFloat16(float32(x))
	case spec.TypeFloat32, spec.TypeComplex64:
		view[float32](data)[0] = float32(x)
	default:
		view[float64](data)[0] = x
	}
}

// TestAccumulatorDecides: where the two largest operands lie halfway between two numbers, a third one decides, however
// little it is and wherever it lies in the accumulator.
func TestAccumulatorDecides(t *testing.T) {
	for exponent := range 64 {
		for below := 54; below < 300; below++ {
			for _, signs := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
				power := func(sign float64, below int) float64 { return math.Ldexp(sign, exponent-below) }
				long := []float64{power(signs[0], 0), power(signs[0], 53), power(signs[1], below)}
				if got, want := accumulatedOf(long...).sum(false), ref.ExactSum(long...); got != want {
					t.Fatalf("the sum of %v is %v, want %v", long, got, want)
				}
				if exponent-below < -149 {
					continue
				}
				short := []float64{power(signs[0], 0), power(signs[0], 24), power(signs[1], below)}
				want := ref.ExactSum(float32(short[0]), float32(short[1]), float32(short[2]))
				if got := float32(accumulatedOf(short...).sum(true)); got != want {
					t.Fatalf("the sum of %v as float32 is %v, want %v", short, got, want)
				}
			}
		}
	}
}

// accumulatedOf returns an accumulator that has xs.
func accumulatedOf(xs ...float64) *accumulator {
	a := new(accumulator)
	for _, x := range xs {
		a.add(x)
	}
	return a
}

// TestExactLimit: the largest number and half of its last bit are infinite together, and not if a little less. Of the
// type that has a NaN in place of infinities the last bit of the largest number is 0, so that it takes a little more.
func TestExactLimit(t *testing.T) {
	forExact(t, func(t *testing.T, typ spec.Type, sum Many) {
		limit := map[spec.Type]struct{ precision, exponent int }{
			spec.TypeFloat8E4M3: {4, 8}, spec.TypeFloat8E5M2: {3, 15}, spec.TypeFloat16: {11, 15},
			spec.TypeBFloat16: {8, 127}, spec.TypeFloat32: {24, 127}, spec.TypeFloat64: {53, 1023},
		}[partsOf(typ)]
		half := math.Ldexp(1, limit.exponent-limit.precision)
		largest := math.Ldexp(1, limit.exponent) - half + (math.Ldexp(1, limit.exponent) - half)
		isNaN := typ == spec.TypeFloat8E4M3
		if isNaN {
			largest -= 2 * half
		}
		for _, little := range []float64{1, 0, -1} {
			for _, sign := range []float64{1, -1} {
				var operands [][]byte
				for _, x := range []float64{largest, half, little} {
					operand := make([]byte, quickPiece+16)
					for at := 0; at < len(operand); at += floatBytes(typ) {
						putFloat(typ, operand[at:], sign*x)
					}
					operands = append(operands, operand)
				}
				dst, want := make([]byte, len(operands[0])), make([]byte, len(operands[0]))
				sum(dst, operands)
				exactReference[typ](want, operands)
				if err := kinds[typ].difference(typ.Bytes(), dst, want); err != nil {
					t.Errorf("%v and %v and %v: %v", sign*largest, sign*half, sign*little, err)
				}
				got, beyond := getFloat(typ, want), little > 0 || little == 0 && !isNaN
				if math.IsInf(got, 0) != (beyond && !isNaN) || math.IsNaN(got) != (beyond && isNaN) {
					t.Errorf("%v and %v and %v are %v", sign*largest, sign*half, sign*little, got)
				}
			}
		}
	})
}

// TestExactBytes: sums of every length up to a few pieces, with values for vectors and for accumulators in all places.
// Nothing beyond dst may change.
func TestExactBytes(t *testing.T) {
	forExact(t, func(t *testing.T, typ spec.Type, sum Many) {
		random := rand.New(rand.NewPCG(6, uint64(typ)))
		operands := [][]byte{make([]byte, longest), make([]byte, longest), make([]byte, longest)}
		for i := range operands {
			kinds[typ].fill(random, []spectest.Kind{spectest.Ordinary, spectest.Mixed}[i/2], operands[i])
		}
		want := make([]byte, longest)
		exactReference[typ](want, operands)
		for n := 0; n <= longest; n += typ.Bytes() {
			dst := bytes.Repeat([]byte{0xa5}, longest)
			sum(dst[:n], operands)
			if err := kinds[typ].difference(typ.Bytes(), dst[:n], want[:n]); err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if !bytes.Equal(dst[n:], bytes.Repeat([]byte{0xa5}, longest-n)) {
				t.Fatalf("%d bytes: more than that was written", n)
			}
		}
	})
}

// TestExactFaults: sums that are not exact are told from exact ones.
func TestExactFaults(t *testing.T) {
	for name, sum := range map[string]func(xs []float32) float32{
		"one after the other": func(xs []float32) (s float32) {
			for _, x := range xs {
				s += x
			}
			return s
		},
		"in float64": func(xs []float32) float32 {
			s := math.Copysign(0, -1)
			for _, x := range xs {
				s += float64(x)
			}
			return float32(s)
		},
		"two numbers, and what they lose is not observed": func(xs []float32) float32 {
			operands := make([][]byte, len(xs))
			for i, x := range xs {
				operands[i] = make([]byte, 4)
				view[float32](operands[i])[0] = x
			}
			var b batch
			b.addInPairs(spec.TypeFloat32, operands, 0, 4)
			b.lost[0] = 0
			b.round(0, true)
			return float32(b.high[0])
		},
		"rounded twice": func(xs []float32) float32 {
			var a accumulator
			for _, x := range xs {
				a.add(float64(x))
			}
			return float32(a.sum(false))
		},
	} {
		wrong := func(dst []byte, operands [][]byte) {
			results := make([]float32, len(dst)/4)
			for i := range results {
				var xs []float32
				for _, operand := range operands {
					xs = append(xs, view[float32](operand)[i])
				}
				results[i] = sum(xs)
			}
			copy(view[float32](dst), results)
		}
		if checkExact(wrong, spec.TypeFloat32) == nil {
			t.Errorf("%s: taken for exact", name)
		}
	}
}
