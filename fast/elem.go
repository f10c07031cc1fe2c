package fast

import (
	"reflect"

	"github.com/collgen/collgen/spec"
)

// Elem is the element types that collectives move and reduce.
type Elem interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Op is a reduction operator. Its exact semantics are those of package spec.
type Op = spec.Op

// The reduction operators.
const (
	Sum  = spec.OpSum
	Prod = spec.OpProd
	Min  = spec.OpMin
	Max  = spec.OpMax
	Avg  = spec.OpAvg
	BAnd = spec.OpBAnd
	BOr  = spec.OpBOr
	BXor = spec.OpBXor
	LAnd = spec.OpLAnd
	LOr  = spec.OpLOr
)

// typeOf is the element type of T, whatever T's name.
func typeOf[T Elem]() spec.Type {
	return types[reflect.TypeFor[T]().Kind()]
}

var types = [...]spec.Type{
	reflect.Int8: spec.TypeInt8, reflect.Int16: spec.TypeInt16, reflect.Int32: spec.TypeInt32, reflect.Int64: spec.TypeInt64,
	reflect.Uint8: spec.TypeUint8, reflect.Uint16: spec.TypeUint16, reflect.Uint32: spec.TypeUint32, reflect.Uint64: spec.TypeUint64,
	reflect.Float32: spec.TypeFloat32, reflect.Float64: spec.TypeFloat64,
	reflect.Complex64: spec.TypeComplex64, reflect.Complex128: spec.TypeComplex128,
}
