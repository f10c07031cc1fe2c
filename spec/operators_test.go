package spec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"pgregory.net/rapid"
)

// TestOperators compares ref's operators with this test's own interpretation, on all types and all kinds of values.
func TestOperators(t *testing.T) {
	t.Run("int8", operators[int8])
	t.Run("int16", operators[int16])
	t.Run("int32", operators[int32])
	t.Run("int64", operators[int64])
	t.Run("uint8", operators[uint8])
	t.Run("uint16", operators[uint16])
	t.Run("uint32", operators[uint32])
	t.Run("uint64", operators[uint64])
	t.Run("float16", operators[spec.Float16])
	t.Run("bfloat16", operators[spec.BFloat16])
	t.Run("float32", operators[float32])
	t.Run("float64", operators[float64])
	t.Run("complex64", operators[complex64])
	t.Run("complex128", operators[complex128])
	t.Run("bool", operators[bool])
	t.Run("float8e4m3", operators[spec.Float8E4M3])
	t.Run("float8e5m2", operators[spec.Float8E5M2])
}

func operators[T spec.Elem](t *testing.T) {
	typ := spec.TypeOf[T]()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x, y := spectest.Value[T](random, spectest.Mixed), spectest.Value[T](random, spectest.Mixed)
		size := random.IntN(300) + 1
		for _, op := range spec.Ops() {
			if !op.Takes(typ) || op == spec.OpProd && typ.Class() == spec.Complex { // Go's product is not spec's
				continue
			}
			same(t, op, ref.Combine(op, x, y), combine(op, x, y))
			same(t, op, ref.Combine(op, y, x), ref.Combine(op, x, y)) // all are commutative
			if op.Finishes() && typ.Class() != spec.Complex {
				same(t, op, ref.Finish(op, x, size), quotient(x, size))
			} else if !op.Finishes() {
				same(t, op, ref.Finish(op, x, size), x)
			}
		}
	})
}

func same(t *rapid.T, op spec.Op, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v: %T %v, want %v", op, got, got, want)
	}
}
