package ref

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"pgregory.net/rapid"
)

// TestComplexProduct: each part is computed in its own precision, and nothing is fused.
func TestComplexProduct(t *testing.T) {
	const e = 0x1p-12
	a, b := complex64(complex(1+e, 1)), complex64(complex(1+e, 1+e))
	// (1+e)² rounds to 1+2e in float32, the e² being half of the last place; so ac - bd is 1+2e - (1+e), exactly e.
	want := complex64(complex(e, 1+2*e+(1+e)))
	if got := Combine(spec.OpProd, a, b); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Combine(spec.OpProd, complex(2, 3), complex(5, 7)); got != -11+29i {
		t.Errorf("got %v", got)
	}
}

func TestComplexAvg(t *testing.T) {
	if got := Finish(spec.OpAvg, complex64(3+1i), 3); got != complex(float32(1), float32(1)/3) {
		t.Errorf("got %v", got)
	}
	if got := Finish(spec.OpAvg, 3+1i, 3); got != complex(1, 1.0/3) {
		t.Errorf("got %v", got)
	}
}

// TestAvgOfManyRanks: the number of ranks need not fit into the type.
func TestAvgOfManyRanks(t *testing.T) {
	if got := Finish(spec.OpAvg, int8(-128), 200); got != 0 {
		t.Errorf("-128 / 200 = %d", got)
	}
	if got := Finish(spec.OpAvg, uint8(255), 256); got != 0 {
		t.Errorf("255 / 256 = %d", got)
	}
	if got := Finish(spec.OpAvg, spec.NewFloat16(60000), 70000).Float32(); got != spec.NewFloat16(
		60000.0/70000).Float32() {
		t.Errorf("60000 / 70000 = %v", got)
	}
}

func TestNamedTypes(t *testing.T) {
	type celsius float32
	type flags uint16
	if got := Combine(spec.OpMin, celsius(3), celsius(-4)); got != -4 {
		t.Errorf("got %v", got)
	}
	if got := Finish(spec.OpAvg, Combine(spec.OpSum, flags(7), flags(2)), 2); got != 4 {
		t.Errorf("got %v", got)
	}
}

func TestCombinePanics(t *testing.T) {
	defer func() {
		if got := recover(); got != "ref: band does not take float32" {
			t.Errorf("panic: %v", got)
		}
	}()
	Combine(spec.OpBAnd, float32(1), 2)
}

func TestIdentities(t *testing.T) {
	t.Run("int8", identities[int8])
	t.Run("int64", identities[int64])
	t.Run("uint16", identities[uint16])
	t.Run("uint32", identities[uint32])
	t.Run("float16", identities[spec.Float16])
	t.Run("bfloat16", identities[spec.BFloat16])
	t.Run("float32", identities[float32])
	t.Run("float64", identities[float64])
	t.Run("complex64", identities[complex64])
	t.Run("complex128", identities[complex128])
	t.Run("bool", identities[bool])
	t.Run("float8e4m3", identities[spec.Float8E4M3])
	t.Run("float8e5m2", identities[spec.Float8E5M2])
}

// identities checks that what spec calls an operator's identity leaves every value as it is: of LAnd and LOr, as a
// truth value; of the product of complex numbers, the numbers without infinities, NaN and zeros, whose signs it may
// change.
func identities[T Elem](t *testing.T) {
	typ := spec.TypeOf[T]()
	rapid.Check(t, func(t *rapid.T) {
		kind := spectest.Mixed
		for _, op := range spec.Ops() {
			if op == spec.OpProd && typ.Class() == spec.Complex {
				kind = spectest.Ordinary
			}
			if !op.Takes(typ) {
				continue
			}
			x := spectest.Value[T](rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), kind)
			want := fmt.Sprint(x)
			if (op == spec.OpLAnd || op == spec.OpLOr) && typ != spec.TypeBool {
				want = map[bool]string{true: "0", false: "1"}[want == "0"]
			}
			if got := fmt.Sprint(Combine(op, identity[T](op), x)); got != want {
				t.Fatalf("%v: %v becomes %s", op, x, got)
			}
		}
	})
}

// identity returns the value that spec names.
func identity[T Elem](op spec.Op) T {
	typ := spec.TypeOf[T]()
	top := uint64(1) << (typ.Bytes()*8 - 1)
	inf := map[spec.Type]uint64{spec.TypeFloat16: 0x7c00, spec.TypeBFloat16: 0x7f80,
		spec.TypeFloat8E4M3: uint64(spec.NewFloat8E4M3(448).Bits()), spec.TypeFloat8E5M2: 0x7c,
		spec.TypeFloat32: uint64(math.Float32bits(float32(math.Inf(1)))),
		spec.TypeFloat64: math.Float64bits(math.Inf(1))}[typ]
	highest := complex(math.Inf(1), math.Inf(1))
	switch class := typ.Class(); op.Identity() {
	case spec.HighestLoc:
		return pair[T](highest)
	case spec.LowestLoc:
		return pair[T](-cmplx.Conj(highest))
	case spec.Zero, spec.False:
		negative := math.Copysign(0, -1)
		return number[T](0, negative)
	case spec.One, spec.True:
		return number[T](1, 1)
	case spec.AllOnes:
		return bits[T](math.MaxUint64)
	case spec.Lowest:
		return bits[T](map[spec.TypeClass]uint64{spec.Signed: top, spec.Unsigned: 0, spec.Floating: inf | top}[class])
	default:
		return bits[T](map[spec.TypeClass]uint64{spec.Signed: top - 1, spec.Unsigned: math.MaxUint64,
			spec.Floating: inf}[class])
	}
}

// pair is z as a complex64 or complex128.
func pair[T Elem](z complex128) T {
	if spec.TypeOf[T]() == spec.TypeComplex64 {
		return cast[T](complex64(z))
	}
	return cast[T](z)
}

// number is i, or f if T has floats; both parts of a complex zero are f.
func number[T Elem](i uint8, f float64) T {
	switch spec.TypeOf[T]() {
	case spec.TypeFloat16:
		return cast[T](spec.NewFloat16(float32(f)))
	case spec.TypeBFloat16:
		return cast[T](spec.NewBFloat16(float32(f)))
	case spec.TypeFloat8E4M3:
		return cast[T](spec.NewFloat8E4M3(float32(f)))
	case spec.TypeFloat8E5M2:
		return cast[T](spec.NewFloat8E5M2(float32(f)))
	case spec.TypeFloat32:
		return cast[T](float32(f))
	case spec.TypeFloat64:
		return cast[T](f)
	case spec.TypeComplex64:
		return cast[T](complex(float32(f), float32(f-float64(i))))
	case spec.TypeComplex128:
		return cast[T](complex(f, f-float64(i)))
	}
	return bits[T](uint64(i))
}

// bits returns the value of which the lowest bits are those of b; the supported machines are little-endian.
func bits[T Elem](b uint64) T {
	var x T
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x)), unsafe.Slice((*byte)(unsafe.Pointer(&b)), 8))
	return x
}
