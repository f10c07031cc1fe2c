package colltest

import (
	"math"
	"math/big"

	"github.com/collgen/collgen/spec"
)

// verdict is the judgement on a rounded result.
type verdict uint8

const (
	wrong        verdict = iota
	right                // it is within the error bound of all trees
	undetermined         // intermediate results over- or underflow in some trees, which may give any result
)

// judge returns the verdict on got as the reduction of operands, in any tree, among size ranks, by an op that rounds. A
// number has one part, a complex one two.
func judge(op spec.Op, t spec.Type, size int, operands [][]float64, got []float64) verdict {
	j := judging{op, t, len(operands), size}
	if op == spec.OpProd && t.Class() == spec.Complex {
		return j.complexProduct(operands, got)
	}
	verdicts := right
	for part := range got {
		var xs []float64
		for _, x := range operands {
			xs = append(xs, x[part])
		}
		v := j.real(xs, got[part])
		if v == wrong {
			return wrong
		}
		verdicts = max(verdicts, v)
	}
	return verdicts
}

type judging struct {
	op spec.Op
	t  spec.Type
	n  int // operands

	size int // ranks
}

func (j judging) real(xs []float64, got float64) verdict {
	if j.op == spec.OpProd {
		return j.product(xs, got)
	}
	return j.sum(xs, got)
}

// bound returns the error bound of the deepest tree.
func (j judging) bound() float64 { return j.op.ErrorBound(j.t, j.n-1, j.n) }

// sum returns the verdict on a sum or an average.
func (j judging) sum(xs []float64, got float64) verdict {
	if j.sumIsNear(xs, got) {
		return right
	}
	total, size := number(0), number(0) // of the finite operands
	nan, up, down := false, false, false
	for _, x := range xs {
		switch {
		case math.IsNaN(x):
			nan = true
		case math.IsInf(x, 1):
			up = true
		case math.IsInf(x, -1):
			down = true
		default:
			total.Add(total, number(x))
			size.Add(size, number(math.Abs(x)))
		}
	}
	overflows := j.exceeds(size)
	switch {
	case nan || up && down:
		return verdictOf(math.IsNaN(got))
	case up || down:
		return unless(overflows && math.IsNaN(got), math.IsInf(got, 1) && up || math.IsInf(got, -1) && down)
	case math.IsNaN(got) || math.IsInf(got, 0):
		return unless(overflows, false)
	case j.op == spec.OpSum && got == 0 && math.Signbit(got) != allMinusZero(xs):
		return wrong
	}
	slack := 0.0
	if j.op == spec.OpAvg {
		n := number(float64(j.size))
		total.Quo(total, n)
		size.Quo(size, n)
		slack = smallest(j.t)
	}
	return verdictOf(within(got, total, size, j.bound(), slack))
}

// product returns the verdict on a product of real numbers.
func (j judging) product(xs []float64, got float64) verdict {
	if j.productIsNear(xs, got) {
		return right
	}
	product, above, below := number(1), number(1), number(1)
	nan, inf, zero := false, false, false
	for _, x := range xs {
		switch {
		case math.IsNaN(x):
			nan = true
		case math.IsInf(x, 0):
			inf = true
		case x == 0:
			zero = true
		default:
			product.Mul(product, number(x))
			above.Mul(above, number(max(math.Abs(x), 1)))
			below.Mul(below, number(min(math.Abs(x), 1)))
		}
	}
	overflows, underflows := j.exceeds(above), below.Cmp(number(2*normal(j.t))) < 0
	switch {
	case nan || inf && zero:
		return verdictOf(math.IsNaN(got))
	case overflows || underflows:
		return undetermined
	case inf:
		return verdictOf(math.IsInf(got, 0) && math.Signbit(got) == negative(xs))
	case zero:
		return verdictOf(got == 0 && math.Signbit(got) == negative(xs))
	case math.IsNaN(got) || math.IsInf(got, 0):
		return wrong
	}
	return verdictOf(within(got, product, new(big.Float).Abs(product), j.bound(), 0))
}

// complexProduct returns the verdict on a product of complex numbers. It is undetermined unless all are finite, and no
// intermediate result comes near the ends of the range.
func (j judging) complexProduct(operands [][]float64, got []float64) verdict {
	re, im, size, least := number(1), number(0), number(1), 1.0
	for _, x := range operands {
		a, b := math.Abs(x[0]), math.Abs(x[1])
		if !(a+b < math.MaxFloat64) || a+b == 0 {
			return undetermined
		}
		c, d := number(x[0]), number(x[1])
		re, im = sub(mul(re, c), mul(im, d)), add(mul(re, d), mul(im, c))
		size = mul(size, number(max(a+b, 1)))
		if a*b != 0 { // products with a part that is 0 are exact
			least *= min(a, b, 1)
		} else {
			least *= min(a+b, 1)
		}
	}
	if j.exceeds(size) || least < 0x1p40*normal(j.t) {
		return undetermined
	}
	if math.IsNaN(got[0]+got[1]) || math.IsInf(got[0], 0) || math.IsInf(got[1], 0) {
		return wrong
	}
	dr, di, bound := sub(re, number(got[0])), sub(im, number(got[1])), number(j.bound()*(1+1e-9))
	off, absolute := add(mul(dr, dr), mul(di, di)), add(mul(re, re), mul(im, im)) // squares
	return verdictOf(off.Cmp(mul(absolute, mul(bound, bound))) <= 0)
}

// within reports whether got is off by at most bound × size + slack.
func within(got float64, exact, size *big.Float, bound, slack float64) bool {
	if math.IsInf(bound, 1) {
		return true
	}
	off := sub(exact, number(got))
	limit := add(mul(size, number(bound*(1+1e-9))), number(slack))
	return off.Abs(off).Cmp(limit) <= 0
}

func negative(xs []float64) (is bool) {
	for _, x := range xs {
		is = is != math.Signbit(x)
	}
	return is
}

func allMinusZero(xs []float64) bool {
	for _, x := range xs {
		if x != 0 || !math.Signbit(x) {
			return false
		}
	}
	return true
}

func verdictOf(is bool) verdict {
	if is {
		return right
	}
	return wrong
}

// unless returns undetermined if unsaid is true, and otherwise the verdict for is.
func unless(unsaid, is bool) verdict {
	if unsaid {
		return undetermined
	}
	return verdictOf(is)
}
