package colltest

import (
	"math"
	"math/big"

	"github.com/collgen/collgen/spec"
)

// precise is a number of bits that makes sums of floats exact.
const precise = 2300

func number(x float64) *big.Float           { return new(big.Float).SetPrec(precise).SetFloat64(x) }
func add(x, y *big.Float) *big.Float        { return new(big.Float).SetPrec(precise).Add(x, y) }
func sub(x, y *big.Float) *big.Float        { return new(big.Float).SetPrec(precise).Sub(x, y) }
func mul(x, y *big.Float) *big.Float        { return new(big.Float).SetPrec(precise).Mul(x, y) }
func (j judging) exceeds(x *big.Float) bool { return x.Cmp(number(largest(j.t)*(1-0x1p-4))) >= 0 }

// largest, normal and smallest are the largest finite number, the smallest normal and the smallest number above 0 of a
// type, or of its parts.
func largest(t spec.Type) float64 {
	if t == spec.TypeFloat8E4M3 { // it has no infinities, whose exponent is also that of numbers
		return 448
	}
	return math.Ldexp(2-math.Ldexp(1, 1-t.Precision()), -exponent(t)+1)
}
func normal(t spec.Type) float64   { return math.Ldexp(1, exponent(t)) }
func smallest(t spec.Type) float64 { return math.Ldexp(1, exponent(t)+1-t.Precision()) }

// exponent returns the exponent of the smallest normal number.
func exponent(t spec.Type) int {
	return 2 - 1<<(8*partBytes(t)-t.Precision()-1)
}
