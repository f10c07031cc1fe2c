package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"pgregory.net/rapid"
)

// kinds are the element types, and what is tested on each.
var kinds = map[spec.Type]struct {
	kernel, division func(*rapid.T, spec.Op)
}{
	spec.TypeInt8:       {checkKernel[int8], checkDivision[int8]},
	spec.TypeInt16:      {checkKernel[int16], checkDivision[int16]},
	spec.TypeInt32:      {checkKernel[int32], checkDivision[int32]},
	spec.TypeInt64:      {checkKernel[int64], checkDivision[int64]},
	spec.TypeUint8:      {checkKernel[uint8], checkDivision[uint8]},
	spec.TypeUint16:     {checkKernel[uint16], checkDivision[uint16]},
	spec.TypeUint32:     {checkKernel[uint32], checkDivision[uint32]},
	spec.TypeUint64:     {checkKernel[uint64], checkDivision[uint64]},
	spec.TypeFloat16:    {checkKernel[spec.Float16], checkDivision[spec.Float16]},
	spec.TypeBFloat16:   {checkKernel[spec.BFloat16], checkDivision[spec.BFloat16]},
	spec.TypeFloat32:    {checkKernel[float32], checkDivision[float32]},
	spec.TypeFloat64:    {checkKernel[float64], checkDivision[float64]},
	spec.TypeComplex64:  {checkKernel[complex64], checkDivision[complex64]},
	spec.TypeComplex128: {checkKernel[complex128], checkDivision[complex128]},
}

// forAll tests each operator on each type that it takes.
func forAll(t *testing.T, test func(*testing.T, spec.Op, spec.Type)) {
	for _, op := range spec.Ops() {
		for _, typ := range spec.Types() {
			if op.Takes(typ) {
				t.Run(fmt.Sprintf("%v/%v", op, typ), func(t *testing.T) { test(t, op, typ) })
			}
		}
	}
}

// TestKernels compares every kernel with the reference, to the bit.
func TestKernels(t *testing.T) {
	forAll(t, func(t *testing.T, op spec.Op, typ spec.Type) {
		rapid.Check(t, func(rt *rapid.T) { kinds[typ].kernel(rt, op) })
	})
}

// TestFor has a kernel for what an operator takes, and for nothing else.
func TestFor(t *testing.T) {
	for op := range spec.OpLOr + 3 {
		for typ := range spec.TypeComplex128 + 3 {
			if got := For(op, typ) != nil; got != op.Takes(typ) {
				t.Errorf("%v on %v: a kernel %v", op, typ, got)
			}
		}
	}
}

// TestFinish compares what completes a reduction with the reference, to the bit.
func TestFinish(t *testing.T) {
	forAll(t, func(t *testing.T, op spec.Op, typ spec.Type) {
		rapid.Check(t, func(rt *rapid.T) { kinds[typ].division(rt, op) })
	})
}

// operands are two slices of as many elements, which start anywhere, and a third for the result, which may be one of
// them. All lie in the middle of guarded memory.
func checkKernel[T spec.Elem](t *rapid.T, op spec.Op) {
	n := rapid.IntRange(0, 70).Draw(t, "n")
	a, b := draw[T](t, "a", n), draw[T](t, "b", n)
	want := make([]T, n)
	for i := range want {
		want[i] = ref.Combine(op, a[i], b[i])
	}
	g := newGuarded[T](n, rapid.IntRange(0, 16).Draw(t, "offset"))
	dst := g.elems
	switch rapid.SampledFrom([]string{"neither", "a", "b", "both"}).Draw(t, "dst is") {
	case "a":
		copy(dst, a)
		a = dst
	case "b":
		copy(dst, b)
		b = dst
	case "both":
		copy(dst, a)
		for i := range want {
			want[i] = ref.Combine(op, a[i], a[i])
		}
		a, b = dst, dst
	}
	For(op, spec.TypeOf[T]())(bytesOf(dst), bytesOf(a), bytesOf(b))
	if i := firstDifference(dst, want); i >= 0 {
		t.Fatalf("element %d of %d is %v, want %v", i, n, dst[i], want[i])
	}
	g.check(t)
}

func checkDivision[T spec.Elem](t *rapid.T, op spec.Op) {
	size := rapid.SampledFrom([]int{1, 2, 3, 7, 64, 127, 128, 1000, 70000}).Draw(t, "size")
	data := draw[T](t, "data", rapid.IntRange(0, 40).Draw(t, "n"))
	g := newGuarded[T](len(data), 3)
	copy(g.elems, data)
	Finish(op, spec.TypeOf[T](), bytesOf(g.elems), size)
	for i := range data {
		data[i] = ref.Finish(op, data[i], size)
	}
	if i := firstDifference(g.elems, data); i >= 0 {
		t.Fatalf("element %d is %v, want %v", i, g.elems[i], data[i])
	}
	g.check(t)
}

func draw[T spec.Elem](t *rapid.T, name string, n int) []T {
	return slices.Clone(spectest.Slices[T](n).Draw(t, name))
}

// guarded is elements between canaries.
type guarded[T spec.Elem] struct {
	memory []byte
	elems  []T
	from   int
}

const canary = 0xa5

func newGuarded[T spec.Elem](n, offset int) guarded[T] {
	all := make([]T, offset+n+16)
	g := guarded[T]{memory: bytesOf(all), elems: all[offset : offset+n], from: offset * int(unsafe.Sizeof(all[0]))}
	for i := range g.memory {
		g.memory[i] = canary
	}
	return g
}

func (g *guarded[T]) check(t *rapid.T) {
	to := g.from + len(bytesOf(g.elems))
	if bytes.Count(g.memory[:g.from], []byte{canary}) != g.from || bytes.Count(g.memory[to:], []byte{canary}) != len(g.memory)-to {
		t.Fatal("written outside of the result")
	}
}

func bytesOf[T any](s []T) []byte {
	var elem T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(elem)))
}

// firstDifference is the index of the first element that differs in a bit, or -1. All NaN are the same.
func firstDifference[T spec.Elem](x, y []T) int {
	for i := range x {
		if !bytes.Equal(bytesOf(x[i:i+1]), bytesOf(y[i:i+1])) && !sameParts(parts(x[i]), parts(y[i])) {
			return i
		}
	}
	return -1
}

func sameParts(x, y []float64) bool {
	return x != nil && slices.EqualFunc(x, y, func(p, q float64) bool {
		return math.Float64bits(p) == math.Float64bits(q) || p != p && q != q
	})
}

// parts are the floats of x, nil of an integer.
func parts(x any) []float64 {
	switch x := x.(type) {
	case spec.Float16:
		return []float64{float64(x.Float32())}
	case spec.BFloat16:
		return []float64{float64(x.Float32())}
	case float32:
		return []float64{float64(x)}
	case float64:
		return []float64{x}
	case complex64:
		return []float64{float64(real(x)), float64(imag(x))}
	case complex128:
		return []float64{real(x), imag(x)}
	}
	return nil
}

// blend is a kernel in which the order of the operands matters.
func blend(dst, a, b []byte) {
	for i := range dst {
		dst[i] = 3*a[i] + b[i]
	}
}

// TestFold compares folds of random bytes with one written down plainly, where the result is memory of its own, and
// where it is one of the operands.
func TestFold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	spare := make([]byte, Piece)
	for _, n := range []int{0, 1, 100, Piece, Piece + 1, 3*Piece - 1} {
		for count := 1; count <= 5; count++ {
			for into := -1; into < count; into++ {
				operands := make([][]byte, count)
				for i := range operands {
					operands[i] = make([]byte, n)
					for j := range operands[i] {
						operands[i][j] = byte(random.Uint32())
					}
				}
				result, want := make([]byte, n), slices.Clone(operands[0])
				for _, operand := range operands[1:] {
					blend(want, want, operand)
				}
				if into >= 0 {
					result = operands[into]
				}
				Fold(wire.Kernel(blend), nil, result, operands, spare)
				if !bytes.Equal(result, want) {
					t.Errorf("%d operands of %d bytes into operand %d: wrong", count, n, into)
				}
			}
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, op := range []spec.Op{spec.OpSum, spec.OpProd, spec.OpMax, spec.OpBXor, spec.OpLAnd} {
		for _, typ := range spec.Types() {
			if !op.Takes(typ) {
				continue
			}
			for _, n := range []int{16 << 10, 16 << 20} {
				b.Run(fmt.Sprintf("%v/%v/%d", op, typ, n), func(b *testing.B) {
					x, y := make([]byte, n), make([]byte, n)
					for i := range y {
						x[i], y[i] = 1, 2
					}
					b.SetBytes(int64(n))
					k := For(op, typ)
					for b.Loop() {
						k(x, x, y)
					}
				})
			}
		}
	}
}
