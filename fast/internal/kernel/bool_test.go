package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// anyBytes returns n bytes, of which most are neither 0 nor 1.
func anyBytes(random *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32() >> (random.UintN(4) * 8))
	}
	return data
}

// tidied returns what is to become of data.
func tidied(data []byte) []byte {
	all := bytes.Clone(data)
	for i := range all {
		all[i] = min(all[i], 1)
	}
	return all
}

// TestTidy: each byte becomes 0 or 1, at every length and from every address, and no other byte changes.
func TestTidy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for from := range 9 {
			data := anyBytes(random, from+n+9)
			want := bytes.Clone(data)
			copy(want[from:], tidied(data[from:][:n]))
			if Tidy(data[from:][:n]); !bytes.Equal(data, want) {
				t.Fatalf("%d bytes from %d: % x, want % x", n, from, data, want)
			}
		}
	}
}

// TestBoolKernels: whatever the bytes of operands are, results are 0 and 1.
func TestBoolKernels(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	forImplementations(t, func(t *testing.T, m *implementation) {
		for _, op := range []spec.Op{spec.OpLAnd, spec.OpLOr} {
			if err := checkTruth(m.kernel(op, spec.TypeBool), op, random, 1000); err != nil {
				t.Errorf("%v: %v", op, err)
			}
		}
	})
}

// checkTruth compares a kernel on bytes of any value with the reference on bools.
func checkTruth(k wire.Kernel, op spec.Op, random *rand.Rand, n int) error {
	a, b := anyBytes(random, n), anyBytes(random, n)
	got, want := make([]byte, n), make([]byte, n)
	kinds[spec.TypeBool].combine(op, want, tidied(a), tidied(b))
	if k(got, a, b); !bytes.Equal(got, want) {
		return fmt.Errorf("%d elements: % x, want % x", n, got, want)
	}
	return nil
}

// TestDeclaredOnBools: a function of the program has operands that are 0 and 1, of any length, also where the result is
// one of them. The operands themselves stay as they are.
func TestDeclaredOnBools(t *testing.T) {
	op, err := spec.DeclareOp("implies", spec.TypeBool, false)
	if err != nil {
		t.Fatal(err)
	}
	strange := 0
	Declare(op, func(dst, a, b []bool) {
		for _, operand := range [][]bool{a, b} {
			for _, x := range unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(operand))), len(operand)) {
				if x > 1 {
					strange++
				}
			}
		}
		for i := range dst {
			dst[i] = !a[i] || b[i]
		}
	})
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 7, 100, Piece, Piece + 1, 3*Piece + 17} {
		a, b := anyBytes(random, n), anyBytes(random, n)
		want := make([]byte, n)
		for i := range want {
			want[i] = truth(truth(a[i]) ^ 1 | b[i])
		}
		beforeA, beforeB := bytes.Clone(a), bytes.Clone(b)
		got := make([]byte, n)
		For(op, spec.TypeBool)(got, a, b)
		if !bytes.Equal(got, want) || !bytes.Equal(a, beforeA) || !bytes.Equal(b, beforeB) {
			t.Fatalf("%d elements: wrong, or the operands have changed", n)
		}
		for _, into := range [][]byte{a, b} {
			copy(a, beforeA)
			copy(b, beforeB)
			if For(op, spec.TypeBool)(into, a, b); !bytes.Equal(into, want) {
				t.Fatalf("%d elements, into an operand: wrong", n)
			}
		}
	}
	if strange > 0 {
		t.Errorf("the function was passed %d elements that are no bool", strange)
	}
}

// TestDeclaredOnDefinedBools: a type that is defined as bool is one.
func TestDeclaredOnDefinedBools(t *testing.T) {
	type flag bool
	op, err := spec.DeclareOp("first flag", spec.TypeBool, false)
	if err != nil {
		t.Fatal(err)
	}
	Declare(op, func(dst, a, _ []flag) { copy(dst, a) })
	a, got := []byte{0, 1, 2, 255}, make([]byte, 4)
	if For(op, spec.TypeBool)(got, a, a); !bytes.Equal(got, tidied(a)) {
		t.Errorf("% x becomes % x", a, got)
	}
}
