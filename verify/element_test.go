package verify_test

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// element is an element type: what depends on it when calls are drawn, made and compared.
type element interface {
	// expect draws the inputs of v, and says what v has to leave.
	expect(t *rapid.T, v variant) expected
	// expectLong is what v has to leave, by the reference, on buffers that repeat themselves.
	expectLong(v variant, seed uint64) (expected, error)
	// arrange makes the buffers of a rank's part of a call.
	arrange(ctx context.Context, c *fast.Comm, x *rankCall) rankBuffers
	// over is the buffers that lie in the memory of x.
	over(c *fast.Comm, x *rankCall) rankBuffers
}

// of is the element that is a T.
type of[T spec.Elem] struct{}

// elements are all element types.
var elements = map[spec.Type]element{
	spec.TypeInt8: of[int8]{}, spec.TypeInt16: of[int16]{}, spec.TypeInt32: of[int32]{}, spec.TypeInt64: of[int64]{},
	spec.TypeUint8: of[uint8]{}, spec.TypeUint16: of[uint16]{}, spec.TypeUint32: of[uint32]{},
	spec.TypeUint64:  of[uint64]{},
	spec.TypeFloat16: of[spec.Float16]{}, spec.TypeBFloat16: of[spec.BFloat16]{},
	spec.TypeFloat32: of[float32]{}, spec.TypeFloat64: of[float64]{},
	spec.TypeComplex64: of[complex64]{}, spec.TypeComplex128: of[complex128]{}, spec.TypeBool: of[bool]{},
	spec.TypeFloat8E4M3: of[spec.Float8E4M3]{}, spec.TypeFloat8E5M2: of[spec.Float8E5M2]{},
}
