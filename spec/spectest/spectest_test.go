package spectest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// TestValues: the kinds hold what they say, and a few hundred values have all of it.
func TestValues(t *testing.T) {
	t.Run("float16", floats(spec.Float16.Float32, 65504, 0x1p-24))
	t.Run("bfloat16", floats(spec.BFloat16.Float32, 0x1.fep127, 0x1p-133))
	t.Run("float8e4m3", floats(spec.Float8E4M3.Float32, 448, 0x1p-9))
	t.Run("float8e5m2", floats(spec.Float8E5M2.Float32, 57344, 0x1p-16))
	t.Run("float32", floats(func(x float32) float32 { return x }, math.MaxFloat32, math.SmallestNonzeroFloat32))
	t.Run("float64", floats(func(x float64) float64 { return x }, math.MaxFloat64, math.SmallestNonzeroFloat64))
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[int16]bool{}
	for range 300 {
		seen[Value[int16](random, Special)] = true
		if x := Value[int16](random, Ordinary); x < -3 || x > 12 {
			t.Errorf("ordinary: %d", x)
		}
		if z := Value[complex64](random, Ordinary); real(z) == 0 || imag(z) == 0 {
			t.Errorf("ordinary: %v", z)
		}
	}
	for _, want := range []int16{0, 1, -1, math.MaxInt16, math.MinInt16} {
		if !seen[want] {
			t.Errorf("%d is never generated", want)
		}
	}
}

func floats[T spec.Elem, F float32 | float64](widen func(T) F, largest, smallest float64) func(*testing.T) {
	return func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		seen := map[float64]bool{}
		for range 500 {
			if x := math.Abs(float64(widen(Value[T](random, Ordinary)))); x < 0.25 || x >= 4 {
				t.Errorf("ordinary: %v", x)
			}
			x := float64(widen(Value[T](random, Special)))
			switch {
			case math.IsNaN(x):
				x = 42 // a NaN is not found in a map
			case x == 0 && math.Signbit(x):
				x = 43
			}
			seen[x] = true
		}
		wanted := []float64{42, 43, 0, 1, largest, smallest}
		if spec.TypeOf[T]() != spec.TypeFloat8E4M3 {
			wanted = append(wanted, math.Inf(1), math.Inf(-1))
		}
		for _, want := range wanted {
			if !seen[want] {
				t.Errorf("%v is never generated", want)
			}
		}
	}
}

// TestCalls: all calls are legal, and the buffers are as long as the specification says.
func TestCalls(t *testing.T) {
	for _, p := range spec.Primitives() {
		rapid.Check(t, func(t *rapid.T) {
			c := Calls(p).Draw(t, "call")
			e, err := spec.Expect(p, c)
			if err != nil {
				t.Fatal(err)
			}
			count := Counts(c.Size).Draw(t, "count")
			for rank, in := range Inputs[uint8](p, c, count).Draw(t, "in") {
				if got, want := len(in), len(e.Ranks[rank].In)*count; got != want || cap(in) != want {
					t.Fatalf("%s, rank %d: %d elements, want %d", p.Name, rank, got, want)
				}
			}
		})
	}
}

func TestOps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := Types().Draw(t, "type")
		if op := Ops(typ).Draw(t, "op"); !op.Takes(typ) {
			t.Fatalf("%v does not take %v", op, typ)
		}
	})
}
