package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// forAll tests each operator on each type that it takes, in each implementation that this processor can run.
func forAll(t *testing.T, test func(*testing.T, *implementation, spec.Op, spec.Type)) {
	forImplementations(t, func(t *testing.T, m *implementation) {
		for _, op := range spec.Ops() {
			for _, typ := range spec.Types() {
				if op.Takes(typ) {
					t.Run(fmt.Sprintf("%v/%v", op, typ), func(t *testing.T) { test(t, m, op, typ) })
				}
			}
		}
	})
}

func forImplementations(t *testing.T, test func(*testing.T, *implementation)) {
	for _, c := range candidates {
		t.Run(c.name, func(t *testing.T) {
			if c.missing != "" {
				t.Skipf("this processor has no %s", c.missing)
			}
			test(t, c.implementation)
		})
	}
}

// TestKernels compares every kernel with the reference, to the bit.
func TestKernels(t *testing.T) {
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		if err := checkKernel(m.kernel(op, typ), op, typ); err != nil {
			t.Error(err)
		}
	})
}

// TestFor has a kernel for what an operator takes, and for nothing else.
func TestFor(t *testing.T) {
	for op := range spec.OpMaxLoc + 3 {
		for typ := range spec.TypeFloat8E5M2 + 3 {
			if got := For(op, typ) != nil; got != op.Takes(typ) {
				t.Errorf("%v on %v: a kernel %v", op, typ, got)
			}
			if ManyFor(op, typ) != nil && !op.Takes(typ) {
				t.Errorf("%v on %v: a fold", op, typ)
			}
			Finish(op, typ, nil, 3) // must not fail
		}
	}
}

// TestFinish compares what completes a reduction with the reference, to the bit.
func TestFinish(t *testing.T) {
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		finish := func(data []byte, size int) { m.finish(op, typ, data, size) }
		if err := checkDivision(finish, op, typ); err != nil {
			t.Error(err)
		}
	})
}

// TestPlaces: what a kernel in assembly makes of an element depends on nothing but that element, not even the payload
// of a NaN: the same with AVX2, with AVX-512, alone, and among others.
func TestPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		if m == &generic {
			t.Skip("the compiler is free to exchange the operands of a sum")
		}
		const n = 1000
		k, bytes := m.kernel(op, typ), n*typ.Bytes()
		a, b, dst, alone := make([]byte, bytes), make([]byte, bytes), make([]byte, bytes), make([]byte, bytes)
		kinds[typ].fill(random, spectest.Special, a)
		kinds[typ].fill(random, spectest.Mixed, b)
		k(dst, a, b)
		for i := 0; i < bytes; i += typ.Bytes() {
			k(alone[i:i+typ.Bytes()], a[i:i+typ.Bytes()], b[i:i+typ.Bytes()])
		}
		if string(dst) != string(alone) {
			t.Error("an element alone is not what it is among others")
		}
		for _, c := range candidates {
			if c.missing == "" && c.implementation != &generic {
				c.kernel(op, typ)(alone, a, b)
				if string(dst) != string(alone) {
					t.Errorf("not the same as %s", c.name)
				}
			}
		}
	})
}

// TestShortOperands: operands of different lengths, against the contract, are at least not read or written beyond their
// ends by assembly.
func TestShortOperands(t *testing.T) {
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		if m.kernels[op][typ] == nil || m == &generic {
			t.Skip("written in Go, which has bounds checks")
		}
		long, short := make([]byte, 2000), make([]byte, 2000)
		for i := range long {
			long[i], short[i] = 1, 2
		}
		for _, n := range []int{0, 16, 400} {
			m.kernels[op][typ](long, short[:n], long)
			m.kernels[op][typ](long, long, short[:n])
			m.kernels[op][typ](short[:n], long, long)
			for i := n; i < len(long); i++ {
				if long[i] != 1 || short[i] != 2 {
					t.Fatalf("%d bytes: byte %d was written", n, i)
				}
			}
		}
	})
}
