package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestScale compares with products by the reference, in place and not, of all kinds of numbers. Of complex numbers it
// takes the parts.
func TestScale(t *testing.T) {
	parts := map[spec.Type]spec.Type{spec.TypeComplex64: spec.TypeFloat32, spec.TypeComplex128: spec.TypeFloat64}
	for _, typ := range spec.Types() {
		if isInteger := typ.Precision() == 0; Scales(typ) == isInteger || Scale(typ, nil, nil, 2) == isInteger {
			t.Errorf("%v is scaled, or it is not", typ)
		}
		part, isComplex := parts[typ]
		if !isComplex {
			part = typ
		}
		for _, n := range []int{0, 1, 7, 1000} {
			for _, factor := range []float64{0, 1, -2, 0.375, 256} {
				if Scales(typ) {
					checkScale(t, typ, part, n*typ.Bytes(), factor)
				}
			}
		}
	}
}

// checkScale scales elements of typ, whose numbers are of type part.
func checkScale(t *testing.T, typ, part spec.Type, n int, factor float64) {
	t.Helper()
	k := kinds[part]
	src, dst, factors, want := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	k.fill(rand.New(rand.NewPCG(1, uint64(n))), spectest.Mixed, src)
	for i := 0; i < n; i += part.Bytes() {
		putFloat(part, factors[i:], factor)
	}
	k.combine(spec.OpProd, want, src, factors)
	before := bytes.Clone(src)
	Scale(typ, dst, src, factor)
	if err := k.difference(part.Bytes(), dst, want); err != nil || !bytes.Equal(src, before) {
		t.Errorf("%v times %v: %v, or the operand is changed", typ, factor, err)
	}
	Scale(typ, src, src, factor)
	if err := k.difference(part.Bytes(), src, want); err != nil {
		t.Errorf("%v times %v in place: %v", typ, factor, err)
	}
}

// TestScaleRoundsFactor: a factor is rounded to float32 for types that are computed in it, and for no others.
func TestScaleRoundsFactor(t *testing.T) {
	const factor = 1.1
	for _, typ := range spec.Types() {
		if !Scales(typ) {
			continue
		}
		data := make([]byte, 1000*typ.Bytes())
		kinds[typ].fill(rand.New(rand.NewPCG(1, 2)), spectest.Mixed, data)
		got, rounded := bytes.Clone(data), bytes.Clone(data)
		Scale(typ, got, got, factor)
		Scale(typ, rounded, rounded, float64(float32(factor)))
		if long := typ == spec.TypeFloat64 || typ == spec.TypeComplex128; bytes.Equal(got, rounded) == long {
			t.Errorf("%v: products by %v and by its float32 are the same: %t", typ, factor, !long)
		}
	}
}
