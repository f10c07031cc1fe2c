package ref

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// randomTree returns a tree over operands in any order.
func randomTree(random *rand.Rand, operands []int) *Tree {
	if len(operands) == 1 {
		return &Tree{Leaf: operands[0]}
	}
	cut := 1 + random.IntN(len(operands)-1)
	return &Tree{Left: randomTree(random, operands[:cut]), Right: randomTree(random, operands[cut:])}
}

func TestFold(t *testing.T) {
	operands := [][]float32{{1e30, 1}, {1, 2}, {-1e30, 3}, {1, 4}}
	pairs := &Tree{Left: &Tree{Left: &Tree{Leaf: 0}, Right: &Tree{Leaf: 2}}, Right: &Tree{Left: &Tree{Leaf: 1},
		Right: &Tree{Leaf: 3}}}
	for _, c := range []struct {
		tree  *Tree
		depth int
		want  string
	}{{LeftFold(4), 3, "[1 10]"}, {pairs, 2, "[2 10]"}, {LeftFold(1), 0, "[1e+30 1]"}} {
		got := Fold(spec.OpSum, c.tree, operands)
		if fmt.Sprint(got) != c.want || c.tree.Depth() != c.depth {
			t.Errorf("got %v in depth %d, want %s in %d", got, c.tree.Depth(), c.want, c.depth)
		}
	}
	if fmt.Sprint(operands) != "[[1e+30 1] [1 2] [-1e+30 3] [1 4]]" {
		t.Error("an operand has changed")
	}
}

func TestTrees(t *testing.T) {
	t.Run("int8", trees[int8])
	t.Run("uint64", trees[uint64])
	t.Run("float16", trees[spec.Float16])
	t.Run("bfloat16", trees[spec.BFloat16])
	t.Run("float8e4m3", trees[spec.Float8E4M3])
	t.Run("float8e5m2", trees[spec.Float8E5M2])
	t.Run("float32", trees[float32])
	t.Run("float64", trees[float64])
	t.Run("complex64", trees[complex64])
}

// trees checks that the tree makes no difference where spec says so, and that elsewhere it makes one.
func trees[T Elem](t *testing.T) {
	typ := spec.TypeOf[T]()
	differs := map[spec.Op]bool{}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := random.IntN(9) + 1
		operands := make([][]T, n)
		for i := range operands {
			operands[i] = []T{spectest.Value[T](random, spectest.Ordinary), spectest.Value[T](random, spectest.Mixed)}
		}
		tree := randomTree(random, random.Perm(n))
		for _, op := range spec.Ops() {
			if !op.Takes(typ) {
				continue
			}
			got, want := fmt.Sprint(Fold(op, tree, operands)), fmt.Sprint(Fold(op, LeftFold(n), operands))
			if got != want && op.Exact(typ) {
				t.Fatalf("%v of %v depends on the tree: %s and %s", op, operands, got, want)
			}
			differs[op] = differs[op] || got != want
		}
	})
	for _, op := range spec.Ops() {
		if op.Takes(typ) && differs[op] == op.Exact(typ) {
			t.Errorf("%v: exact is %v, and the tree made a difference: %v", op, op.Exact(typ), differs[op])
		}
	}
}

func TestErrorBound(t *testing.T) {
	t.Run("float16", bounded(spec.Float16.Float32))
	t.Run("bfloat16", bounded(spec.BFloat16.Float32))
	t.Run("float8e4m3", bounded(spec.Float8E4M3.Float32))
	t.Run("float8e5m2", bounded(spec.Float8E5M2.Float32))
	t.Run("float32", bounded(func(x float32) float32 { return x }))
	t.Run("float64", bounded(func(x float64) float64 { return x }))
}

// bounded checks spec's bound on rounding errors against exact results, in any tree.
func bounded[T Elem, F float32 | float64](widen func(T) F) func(*testing.T) {
	return func(t *testing.T) {
		typ, worst := spec.TypeOf[T](), 0.0
		rapid.Check(t, func(t *rapid.T) {
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			for _, op := range []spec.Op{spec.OpSum, spec.OpAvg, spec.OpProd} {
				n := random.IntN(20) + 1
				if most := map[spec.Type]int{spec.TypeFloat16: 7, spec.TypeFloat8E5M2: 7, spec.TypeFloat8E4M3: 3}[typ]; most > 0 &&
					op == spec.OpProd {
					n = min(n, most) // factors from 1/4 to 4: no partial product leaves the range of normal numbers
				}
				operands := make([][]T, n)
				for i := range operands {
					operands[i] = []T{spectest.Value[T](random, spectest.Ordinary)}
				}
				tree := randomTree(random, random.Perm(n))
				got := Finish(op, Fold(op, tree, operands)[0], n)
				want, scale := exact(op, operands, widen)
				diff := new(big.Float).Sub(want, new(big.Float).SetPrec(4000).SetFloat64(float64(widen(got))))
				size, _ := diff.Quo(diff.Abs(diff), scale).Float64()
				bound := op.ErrorBound(typ, tree.Depth(), n)
				if size > bound*(1+1e-9) {
					t.Fatalf("%v of %v: %v, off by %g of %g", op, operands, got, size, bound)
				}
				if bound > 0 {
					worst = max(worst, size/bound)
				}
			}
		})
		if worst < 0.2 {
			t.Errorf("no error came near its bound: the worst was %.2f of it", worst)
		}
	}
}

// exact returns the result without rounding, and what its error bound is relative to.
func exact[T Elem, F float32 | float64](op spec.Op, operands [][]T, widen func(T) F) (result, scale *big.Float) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }
	result, scale = number(0), number(0)
	if op == spec.OpProd {
		result, scale = number(1), number(1)
	}
	for _, x := range operands {
		v := number(float64(widen(x[0])))
		if op == spec.OpProd {
			result.Mul(result, v)
			scale.Abs(result)
		} else {
			result.Add(result, v)
			scale.Add(scale, v.Abs(v))
		}
	}
	if op == spec.OpAvg {
		n := number(float64(len(operands)))
		return result.Quo(result, n), scale.Quo(scale, n)
	}
	return result, scale
}
