package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// blend is a kernel in which the order of the operands matters.
func blend(dst, a, b []byte) {
	for i := range dst {
		dst[i] = 3*a[i] + b[i]
	}
}

// TestFold compares folds of random bytes with one written down plainly.
func TestFold(t *testing.T) {
	for _, n := range []int{0, 1, 100, Piece, Piece + 1, 3*Piece - 1} {
		if err := checkFold(blend, nil, spec.TypeUint8, n); err != nil {
			t.Error(err)
		}
	}
}

// TestMany compares folds of many operands with the same kernel applied again and again.
func TestMany(t *testing.T) {
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		if m.folds[op][typ] == nil {
			t.Skip("has none: TestFold tests what is done instead")
		}
		if op == spec.OpAvg {
			t.Skip("is Sum's") // as TestAverageIsSum says
		}
		for n := 0; n <= longest; n += typ.Bytes() {
			if err := checkFold(m.kernel(op, typ), m.folds[op][typ], typ, n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAverageIsSum: what is tested of Sum need not be tested of Avg again.
func TestAverageIsSum(t *testing.T) {
	forImplementations(t, func(t *testing.T, m *implementation) {
		for _, typ := range spec.Types() {
			if !sameFunction(m.folds[spec.OpAvg][typ], m.folds[spec.OpSum][typ]) ||
				!sameFunction(m.kernels[spec.OpAvg][typ], m.kernels[spec.OpSum][typ]) {
				t.Errorf("%v: another function", typ)
			}
		}
	})
}

func sameFunction(f, g any) bool { return reflect.ValueOf(f).Pointer() == reflect.ValueOf(g).Pointer() }

// TestManyRefusesShortOperands: assembly would read beyond their ends.
func TestManyRefusesShortOperands(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an operand that is too short was not refused")
		}
	}()
	long := make([]byte, 100)
	Fold(blend, func([]byte, [][]byte) {}, long, [][]byte{long, long, long[:99:99]}, nil)
}

// checkFold folds 1 to 6 operands of n bytes, where the result is memory of its own, and where it is the first, a
// middle or the last operand. Nothing else may change.
func checkFold(k wire.Kernel, many Many, typ spec.Type, n int) error {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	spare := make([]byte, Piece)
	values := make([][]byte, 6)
	for i := range values {
		values[i] = make([]byte, n)
		kinds[typ].fill(random, spectest.Mixed, values[i])
	}
	want := bytes.Clone(values[0])
	for count := 1; count <= len(values); count++ {
		if count > 1 {
			k(want, want, values[count-1])
		}
		for _, into := range []int{-1, 0, count / 2, count - 1} {
			memory := slices.Concat(values[:count]...)
			memory = append(memory, bytes.Repeat([]byte{0xa5}, n+64)...)
			operands := make([][]byte, count)
			for i := range operands {
				operands[i] = memory[i*n : (i+1)*n]
			}
			at := into
			if at < 0 {
				at = count // memory of its own
			}
			before := bytes.Clone(memory)
			Fold(k, many, memory[at*n:(at+1)*n], operands, spare)
			if err := kinds[typ].difference(typ.Bytes(), memory[at*n:(at+1)*n], want); err != nil {
				return fmt.Errorf("%d operands into %d: %w", count, into, err)
			}
			copy(memory[at*n:(at+1)*n], before[at*n:])
			if !bytes.Equal(memory, before) {
				return fmt.Errorf("%d operands of %d bytes into %d: other memory has changed", count, n, into)
			}
		}
	}
	return nil
}
