package spec

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
)
