package spec_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

type (
	meters float32
	flags  uint8
	answer bool
)

// sized returns the type that an int of this machine is.
func sized(on32, on64 spec.Type) spec.Type {
	if strconv.IntSize == 32 {
		return on32
	}
	return on64
}

func TestTypeOf(t *testing.T) {
	for _, c := range []struct {
		got   spec.Type
		want  spec.Type
		name  string
		class spec.TypeClass
		bytes uintptr
	}{
		{spec.TypeOf[int8](), spec.TypeInt8, "int8", spec.Signed, unsafe.Sizeof(int8(0))},
		{spec.TypeOf[int16](), spec.TypeInt16, "int16", spec.Signed, unsafe.Sizeof(int16(0))},
		{spec.TypeOf[int32](), spec.TypeInt32, "int32", spec.Signed, unsafe.Sizeof(int32(0))},
		{spec.TypeOf[int64](), spec.TypeInt64, "int64", spec.Signed, unsafe.Sizeof(int64(0))},
		{spec.TypeOf[uint8](), spec.TypeUint8, "uint8", spec.Unsigned, unsafe.Sizeof(uint8(0))},
		{spec.TypeOf[uint16](), spec.TypeUint16, "uint16", spec.Unsigned, unsafe.Sizeof(uint16(0))},
		{spec.TypeOf[uint32](), spec.TypeUint32, "uint32", spec.Unsigned, unsafe.Sizeof(uint32(0))},
		{spec.TypeOf[uint64](), spec.TypeUint64, "uint64", spec.Unsigned, unsafe.Sizeof(uint64(0))},
		{spec.TypeOf[spec.Float16](), spec.TypeFloat16, "float16", spec.Floating, unsafe.Sizeof(spec.Float16{})},
		{spec.TypeOf[spec.BFloat16](), spec.TypeBFloat16, "bfloat16", spec.Floating, unsafe.Sizeof(spec.BFloat16{})},
		{spec.TypeOf[float32](), spec.TypeFloat32, "float32", spec.Floating, unsafe.Sizeof(float32(0))},
		{spec.TypeOf[float64](), spec.TypeFloat64, "float64", spec.Floating, unsafe.Sizeof(float64(0))},
		{spec.TypeOf[complex64](), spec.TypeComplex64, "complex64", spec.Complex, unsafe.Sizeof(complex64(0))},
		{spec.TypeOf[complex128](), spec.TypeComplex128, "complex128", spec.Complex, unsafe.Sizeof(complex128(0))},
		{spec.TypeOf[bool](), spec.TypeBool, "bool", spec.Boolean, unsafe.Sizeof(false)},
		{spec.TypeOf[answer](), spec.TypeBool, "bool", spec.Boolean, unsafe.Sizeof(answer(false))},
		{spec.TypeOf[spec.Float8E4M3](), spec.TypeFloat8E4M3, "float8e4m3", spec.Floating, unsafe.Sizeof(spec.Float8E4M3{})},
		{spec.TypeOf[spec.Float8E5M2](), spec.TypeFloat8E5M2, "float8e5m2", spec.Floating, unsafe.Sizeof(spec.Float8E5M2{})},
		{spec.TypeOf[int](), sized(spec.TypeInt32, spec.TypeInt64), "int" + strconv.Itoa(strconv.IntSize), spec.Signed,
			unsafe.Sizeof(int(0))},
		{spec.TypeOf[uint](), sized(spec.TypeUint32, spec.TypeUint64), "uint" + strconv.Itoa(strconv.IntSize), spec.Unsigned,
			unsafe.Sizeof(uint(0))},
		{spec.TypeOf[meters](), spec.TypeFloat32, "float32", spec.Floating, unsafe.Sizeof(meters(0))},
		{spec.TypeOf[flags](), spec.TypeUint8, "uint8", spec.Unsigned, unsafe.Sizeof(flags(0))},
	} {
		if c.got != c.want || c.got.String() != c.name || c.got.Class() != c.class || c.got.Bytes() != int(c.bytes) {
			t.Errorf("got %v, class %d, %d bytes; want %s", c.got, c.got.Class(), c.got.Bytes(), c.name)
		}
		if isFloat := c.class == spec.Floating || c.class == spec.Complex; isFloat == (c.got.Precision() == 0) {
			t.Errorf("%v has a precision of %d bits", c.got, c.got.Precision())
		}
	}
	if n := testing.AllocsPerRun(10, func() { spec.TypeOf[meters]() }); n != 0 {
		t.Errorf("TypeOf allocates %v times", n)
	}
}

// TestAll: the lists of types and operators have each that is valid.
func TestAll(t *testing.T) {
	for i := range 256 {
		x, o := spec.Type(i), spec.Op(i)
		if slices.Contains(spec.Types(), x) != x.Valid() {
			t.Errorf("%v is valid: %v, and the list has it not, or wrongly", x, x.Valid())
		}
		if slices.Contains(spec.Ops(), o) != o.Valid() {
			t.Errorf("%v is valid: %v, and the list has it not, or wrongly", o, o.Valid())
		}
	}
}

// TestOutOfRange: numbers that are no type or operator, which may come off a wire, are harmless.
func TestOutOfRange(t *testing.T) {
	for _, i := range []uint8{0, 18, 19, 32, 63, 128, 255} {
		x, o := spec.Type(i), spec.Op(i)
		if x.Valid() || x.Bytes() != 0 || x.Class() != 0 || x.Precision() != 0 || spec.OpSum.Takes(x) {
			t.Errorf("%v is a type", x)
		}
		if o.Valid() || o.Takes(spec.TypeInt8) || o.Finishes() || o.Commutative() || o.Associative() ||
			o.Types() != 0 || o.Identity() != 0 || o.Floats() != spec.NoFloats || o.Doc() != "" {
			t.Errorf("%v is an operator", o)
		}
		if x.String() == "" || o.String() == "" {
			t.Error("no name")
		}
	}
	if spec.TypeSet(math.MaxUint32).Has(255) {
		t.Error("255 is in a set of types")
	}
}
