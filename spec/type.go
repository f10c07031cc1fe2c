package spec

import (
	"fmt"
	"reflect"
	"strconv"
)

// Type is an element type.
type Type uint8

// The element types. The zero Type is none.
const (
	TypeInt8 Type = iota + 1
	TypeInt16
	TypeInt32
	TypeInt64
	TypeUint8
	TypeUint16
	TypeUint32
	TypeUint64
	TypeFloat16
	TypeBFloat16
	TypeFloat32
	TypeFloat64
	TypeComplex64
	TypeComplex128
	TypeBool // one byte, which is 0 or 1
	TypeFloat8E4M3
	TypeFloat8E5M2

	typeEnd // one more than the last Type
)

// Elem is the constraint of Go types that are element types. An int or uint is the element type of its size.
type Elem interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		Float8E4M3 | Float8E5M2 | Float16 | BFloat16 | ~float32 | ~float64 | ~complex64 | ~complex128 | ~bool
}

// TypeClass says what arithmetic a Type has.
type TypeClass uint8

// The classes of Type.
const (
	Signed   TypeClass = iota + 1 // two's complement integers
	Unsigned                      // unsigned integers
	Floating                      // IEEE 754 binary formats, BFloat16, and the formats of 8 bits
	Complex                       // two parts, each a Floating of half the bytes
	Boolean                       // truth values
)

// typeTable defines the types. Bits is the precision of a Floating, or of a part of a Complex, in significant bits.
var typeTable = [typeEnd]struct {
	name  string
	class TypeClass
	bytes int
	bits  int
}{
	TypeInt8:       {"int8", Signed, 1, 0},
	TypeInt16:      {"int16", Signed, 2, 0},
	TypeInt32:      {"int32", Signed, 4, 0},
	TypeInt64:      {"int64", Signed, 8, 0},
	TypeUint8:      {"uint8", Unsigned, 1, 0},
	TypeUint16:     {"uint16", Unsigned, 2, 0},
	TypeUint32:     {"uint32", Unsigned, 4, 0},
	TypeUint64:     {"uint64", Unsigned, 8, 0},
	TypeFloat16:    {"float16", Floating, 2, 11},
	TypeBFloat16:   {"bfloat16", Floating, 2, 8},
	TypeFloat32:    {"float32", Floating, 4, 24},
	TypeFloat64:    {"float64", Floating, 8, 53},
	TypeComplex64:  {"complex64", Complex, 8, 24},
	TypeComplex128: {"complex128", Complex, 16, 53},
	TypeBool:       {"bool", Boolean, 1, 0},
	TypeFloat8E4M3: {"float8e4m3", Floating, 1, 4},
	TypeFloat8E5M2: {"float8e5m2", Floating, 1, 3},
}

// Valid reports whether t is one of the types above.
func (t Type) Valid() bool { return t > 0 && t < typeEnd }

// String returns the type's name, as Go spells it or would: "float32", "bfloat16".
func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("type(%d)", uint8(t))
	}
	return typeTable[t].name
}

// MarshalText returns the name of t: that is how JSON has it.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText does the reverse of MarshalText.
func (t *Type) UnmarshalText(name []byte) error {
	for _, x := range Types() {
		if x.String() == string(name) {
			*t = x
			return nil
		}
	}
	return fmt.Errorf("no element type is called %q", name)
}

// Bytes returns the size of an element in bytes, a power of two; 0 if t is not valid.
func (t Type) Bytes() int {
	if !t.Valid() {
		return 0
	}
	return typeTable[t].bytes
}

// Class returns the kind of t's arithmetic; 0 if t is not valid.
func (t Type) Class() TypeClass {
	if !t.Valid() {
		return 0
	}
	return typeTable[t].class
}

// Precision returns how many significant bits a float, or each part of a complex number, has; 0 for other
// types.
func (t Type) Precision() int {
	if !t.Valid() {
		return 0
	}
	return typeTable[t].bits
}

// Types returns all element types, in ascending order.
func Types() []Type {
	all := make([]Type, 0, typeEnd-1)
	for t := Type(1); t < typeEnd; t++ {
		all = append(all, t)
	}
	return all
}

// kindTypes are the types whose Go types have a reflect.Kind of their own.
var kindTypes = [...]Type{
	reflect.Int: TypeInt32 + strconv.IntSize/64, reflect.Uint: TypeUint32 + strconv.IntSize/64,
	reflect.Int8: TypeInt8, reflect.Int16: TypeInt16, reflect.Int32: TypeInt32, reflect.Int64: TypeInt64,
	reflect.Uint8: TypeUint8, reflect.Uint16: TypeUint16, reflect.Uint32: TypeUint32, reflect.Uint64: TypeUint64,
	reflect.Float32: TypeFloat32, reflect.Float64: TypeFloat64,
	reflect.Complex64: TypeComplex64, reflect.Complex128: TypeComplex128,
	reflect.Bool: TypeBool,
}

// TypeOf returns the element type that the Go type T is, or is defined as. It does not allocate.
func TypeOf[T Elem]() Type {
	t := any((*T)(nil))
	// the most usual ones: package reflect takes ten times as long, and a switch three times
	if _, ok := t.(*float32); ok {
		return TypeFloat32
	}
	if _, ok := t.(*float64); ok {
		return TypeFloat64
	}
	if _, ok := t.(*int32); ok {
		return TypeInt32
	}
	if _, ok := t.(*int64); ok {
		return TypeInt64
	}
	if _, ok := t.(*Float16); ok {
		return TypeFloat16
	}
	if _, ok := t.(*BFloat16); ok {
		return TypeBFloat16
	}
	if _, ok := t.(*Float8E4M3); ok {
		return TypeFloat8E4M3
	}
	if _, ok := t.(*Float8E5M2); ok {
		return TypeFloat8E5M2
	}
	return kindTypes[reflect.TypeFor[T]().Kind()]
}
