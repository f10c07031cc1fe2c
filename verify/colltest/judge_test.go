package colltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestJudgeAcceptsAllTrees: whatever tree reduces the operands, the result is not wrong.
func TestJudgeAcceptsAllTrees(t *testing.T) {
	t.Run("float16", acceptsTrees[spec.Float16])
	t.Run("bfloat16", acceptsTrees[spec.BFloat16])
	t.Run("float8e4m3", acceptsTrees[spec.Float8E4M3])
	t.Run("float8e5m2", acceptsTrees[spec.Float8E5M2])
	t.Run("float32", acceptsTrees[float32])
	t.Run("float64", acceptsTrees[float64])
	t.Run("complex64", acceptsTrees[complex64])
	t.Run("complex128", acceptsTrees[complex128])
}

func acceptsTrees[T spec.Elem](t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	typ, verdicts := spec.TypeOf[T](), map[spec.Op][3]int{}
	for range 3000 {
		n := 1 + random.IntN(8)
		kind := kinds[random.IntN(len(kinds))]
		var operands [][]T
		var parts [][]float64
		for range n {
			operands = append(operands, []T{spectest.Value[T](random, kind)})
			parts = append(parts, of[T]{}.parts(memoryOf(operands[len(operands)-1])))
		}
		for _, op := range []spec.Op{spec.OpSum, spec.OpAvg, spec.OpProd} {
			got := ref.Finish(op, ref.Fold(op, randomTree(random, random.Perm(n)), operands)[0], n)
			v := judge(op, typ, n, parts, of[T]{}.parts(memoryOf([]T{got})))
			if v == wrong {
				t.Errorf("%v of %v: %v is taken for wrong", op, operands, got)
			}
			all := verdicts[op]
			all[v]++
			verdicts[op] = all
		}
	}
	for op, all := range verdicts {
		if all[right] < 900 {
			t.Errorf("%v: only %d of %d are determined", op, all[right], all[right]+all[undetermined])
		}
	}
}

func randomTree(random *rand.Rand, operands []int) *ref.Tree {
	if len(operands) == 1 {
		return &ref.Tree{Leaf: operands[0]}
	}
	cut := 1 + random.IntN(len(operands)-1)
	return &ref.Tree{Left: randomTree(random, operands[:cut]), Right: randomTree(random, operands[cut:])}
}

// memoryOf returns the elements as bytes.
func memoryOf[T spec.Elem](x []T) []byte {
	b := Aligned(len(x) * spec.TypeOf[T]().Bytes())
	copy(As[T](b), x)
	return b
}

// TestJudgeRefuses: what no tree gives is wrong.
func TestJudgeRefuses(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	const e = 0x1p-23 // a unit in the last place of a float32: what two roundings make
	for _, x := range []struct {
		op       spec.Op
		operands []float64
		got      float64
		want     verdict
	}{
		{spec.OpSum, []float64{1, 2, 4}, 7, right},
		{spec.OpSum, []float64{1, 2, 4}, 7 * (1 + e), right},
		{spec.OpSum, []float64{1, 2, 4}, 7 * (1 + 2*e), wrong},
		{spec.OpSum, []float64{1, 2, 4}, 3, wrong},
		{spec.OpSum, []float64{1, 2, 4}, nan, wrong},
		{spec.OpSum, []float64{1, 2, 4}, inf, wrong},
		{spec.OpSum, []float64{1, nan, 4}, 5, wrong},
		{spec.OpSum, []float64{inf, -inf, 4}, inf, wrong},
		{spec.OpSum, []float64{inf, 1, 4}, inf, right},
		{spec.OpSum, []float64{inf, 1, 4}, nan, wrong},
		{spec.OpSum, []float64{inf, 1, 4}, -inf, wrong},
		{spec.OpSum, []float64{0x1p127, 0x1p127, -0x1p127}, inf, undetermined},
		{spec.OpSum, []float64{0x1p127, 0x1p127, -0x1p127}, 0x1p127, right},
		{spec.OpSum, []float64{zero, zero}, 0, wrong},
		{spec.OpSum, []float64{zero, 0}, zero, wrong},
		{spec.OpSum, []float64{1, -1}, zero, wrong},
		{spec.OpAvg, []float64{1, 2}, 1.5, right},
		{spec.OpAvg, []float64{1, 2}, 3, wrong},
		{spec.OpAvg, []float64{0x1p-149, 0}, 0, right},
		{spec.OpProd, []float64{2, 3, 4}, 24 * (1 + e), right},
		{spec.OpProd, []float64{2, 3, 4}, 25, wrong},
		{spec.OpProd, []float64{2, nan}, 2, wrong},
		{spec.OpProd, []float64{inf, 0}, 0, wrong},
		{spec.OpProd, []float64{inf, -2}, inf, wrong},
		{spec.OpProd, []float64{zero, 2}, 0, wrong},
		{spec.OpProd, []float64{2, 3}, inf, wrong},
		{spec.OpProd, []float64{0x1p100, 0x1p100, 0x1p-100}, 0, undetermined},
	} {
		var operands [][]float64
		for _, v := range x.operands {
			operands = append(operands, []float64{v})
		}
		if got := judge(x.op, spec.TypeFloat32, len(operands), operands, []float64{x.got}); got != x.want {
			t.Errorf("%v of %v is %v: verdict %d, want %d", x.op, x.operands, x.got, got, x.want)
		}
	}
	z := [][]float64{{1, 2}, {3, -1}}
	if judge(spec.OpProd, spec.TypeComplex64, len(z), z, []float64{5, 5}) != right ||
		judge(spec.OpProd, spec.TypeComplex64, len(z), z, []float64{5, 5.001}) != wrong {
		t.Error("a complex product is judged wrong")
	}
	z = [][]float64{{2, 0}, {3, 0}}
	if judge(spec.OpProd, spec.TypeComplex64, len(z), z, []float64{6, 0}) != right ||
		judge(spec.OpProd, spec.TypeComplex64, len(z), z, []float64{0, 0}) != wrong {
		t.Error("a product of complex numbers without imaginary parts is judged wrong")
	}
	for ty, want := range map[spec.Type][3]float64{
		spec.TypeFloat16: {65504, 0x1p-14, 0x1p-24}, spec.TypeBFloat16: {0x1.fep127, 0x1p-126, 0x1p-133},
		spec.TypeFloat8E4M3: {448, 0x1p-6, 0x1p-9}, spec.TypeFloat8E5M2: {57344, 0x1p-14, 0x1p-16},
		spec.TypeComplex64: {math.MaxFloat32, 0x1p-126, math.SmallestNonzeroFloat32},
		spec.TypeFloat64:   {math.MaxFloat64, 0x1p-1022, math.SmallestNonzeroFloat64},
	} {
		if got := [3]float64{largest(ty), normal(ty), smallest(ty)}; got != want {
			t.Errorf("%v: %v, want %v", ty, got, want)
		}
	}
}

// TestNear: results that float64 shows to be near are right by exact numbers, too, also those just within the bound.
func TestNear(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, op := range []spec.Op{spec.OpSum, spec.OpAvg, spec.OpProd} {
		near, off := 0, 0
		for range 20000 {
			j := judging{op: op, t: []spec.Type{spec.TypeFloat64, spec.TypeFloat32}[random.IntN(2)], n: 2 + random.IntN(8)}
			j.size = j.n
			xs := j.draw(random)
			exact, size := number(1), number(0)
			if op == spec.OpProd {
				for _, x := range xs {
					exact = mul(exact, number(x))
				}
				size.Abs(exact)
			} else {
				exact = number(0)
				for _, x := range xs {
					exact, size = add(exact, number(x)), add(size, number(math.Abs(x)))
				}
			}
			if op == spec.OpAvg {
				exact.Quo(exact, number(float64(j.n)))
				size.Quo(size, number(float64(j.n)))
			}
			far := mul(size, number(j.bound()*2*(random.Float64()-0.5)*(1+1e-3)))
			got, _ := add(exact, far).Float64()
			isNear := j.sumIsNear
			if op == spec.OpProd {
				isNear = j.productIsNear
			}
			is := within(got, exact, size, j.bound(), 0)
			switch {
			case isNear(xs, got) && !is:
				t.Fatalf("%v as the %v of %v, %v, is taken for near", got, op, xs, j.t)
			case isNear(xs, got):
				near++
			case !is:
				off++
			}
		}
		if near < 5000 || off < 5 {
			t.Errorf("%v: %d results were near, and %d off the bound", op, near, off)
		}
	}
}

// draw draws operands, some of which cancel most of another.
func (j judging) draw(random *rand.Rand) (xs []float64) {
	for range j.n {
		x := math.Ldexp(random.Float64()-0.5, random.IntN(1+random.IntN(120)))
		if j.op == spec.OpProd {
			x = math.Ldexp(random.Float64()+0.5, random.IntN(9)-4)
		} else if random.IntN(3) == 0 && len(xs) > 0 {
			x = -xs[0] * (1 + 0x1p-50*random.Float64())
		}
		xs = append(xs, x)
	}
	return xs
}
