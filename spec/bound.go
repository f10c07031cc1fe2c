package spec

import "math"

// ErrorBound bounds the rounding error that a reduction of n operands of type t makes in a tree of the given depth,
// which is the number of ⊕ between an operand and the result on the longest path: n-1 for a fold, ceil(log2 n) at best.
// It is 0 where [Op.Exact] holds. Otherwise, unless something over- or underflows,
//
//	|computed - exact| <= ErrorBound × M
//
// where M is Σ|x| for Sum, Σ|x| / n for Avg, and |Πx| for Prod; of complex numbers Sum and Avg take each part by
// itself, and Prod takes absolute values. With u = 2^-precision, half of the last place, and γ(k) = k·u / (1 - k·u):
//
//	Sum   γ(depth)                each operand goes through at most depth roundings
//	Avg   γ(depth + 1)            and the division makes one more
//	Prod  γ(n - 1)                in every tree: each ⊕ rounds once
//	Prod  (1 + √5·u)^(n-1) - 1    of complex numbers
//
// It is +Inf when k·u reaches 1. See Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1 and
// section 4.2; for complex products Brent, Percival, Zimmermann, Error bounds on complex floating-point multiplication,
// Math. Comp. 76, 2007.
func (o Op) ErrorBound(t Type, depth, n int) float64 {
	u := math.Ldexp(1, -t.Precision())
	switch {
	case !o.Takes(t):
		return math.NaN()
	case o.Exact(t):
		return 0
	case o == OpAvg:
		return gamma(depth+1, u)
	case o == OpProd && t.Class() == Complex:
		return math.Expm1(float64(n-1) * math.Log1p(math.Sqrt(5)*u))
	case o == OpProd:
		return gamma(n-1, u)
	}
	return gamma(depth, u)
}

func gamma(k int, u float64) float64 {
	ku := float64(k) * u
	if ku >= 1 {
		return math.Inf(1)
	}
	return ku / (1 - ku)
}
