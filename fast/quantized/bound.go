package quantized

import (
	"math"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// ErrorBound returns the largest difference between one element of the result of [AllReduceInto] and the exact sum or
// average of the operands. Operands has the element on each rank, and maxima the largest magnitude in its block on each
// rank. It holds for hosts.AllReduceQuantized too. It grows with all of them, so the maxima in place of the operands
// give a bound for the whole block. It is +Inf where the sum may overflow, or an operand is not finite: then the block
// may be NaN. It is NaN if op is neither Sum nor Avg, and if the two have different lengths.
//
// With u = 2^-24, v = (1 + u)^3 - 1, γ(k) = k·u / (1 - k·u), and n ranks, whose operands x have the maxima M:
//
//	e(x, M) = v·|x| + (1 + v)·max(rel·|x|, tiny/2 · max(M/most, least))    0 if M is 0
//	first   = (1 + γ(n-1))·Σe(x, M) + γ(n-1)·Σ|x|
//	sum     = first + e(Σ|x| + first, (1 + γ(n-1))·Σ(M + e(M, M)))
//	average = (sum + u·(Σ|x| + sum)) / n + 2^-150
//
//	           most     tiny    rel    least
//	Int8       127      1       0      2^-126
//	Float8E4M3 448      2^-9    1/17   2^-117
//	Float8E5M2 57344    2^-16   1/9    2^-110
//
// So an element of Int8 adds a little more than M/254, twice: as an operand, and as a part of the sum.
//
// Proof. e bounds the error of quantizing x in a block with the maximum M > 0. Let S be max(M/most, least). The scale s
// is S(1 + a), or the float before that where most·s would overflow; |a| <= u. So s <= S(1 + u), and the rounded
// quotient y = x·(1/s)·(1 + b)(1 + c) has |y| <= most·(1 + 2^-20), which rounds to a code q with |q - y| <=
// max(rel·|y|, tiny/2). The product z = q·s·(1 + d) is not subnormal, for s >= least. As |b|, |c| and |d| are at most
// u, z differs from x by no more than |x|·((1 + u)^3 - 1) + |q - y|·s·(1 + u), which is at most e. If the product
// x·(1/s) is subnormal, q is 0, and the error |x| is less than s·tiny/2.
//
// Now let z be the operands as the owner adds them, |z - x| <= e(x, M). Each goes through at most n-1 additions. The
// computed sum t is Σz(1 + g), |g| <= γ(n-1), and so |t - Σx| <= Σ|z - x| + γ(n-1)·Σ|z| <= first. It is at most Σ|x| +
// first, and in all of the block at most (1 + γ(n-1))·Σ(M + e(M, M)). Quantizing it adds e of both. A division rounds
// once, by u of the quotient, or by 2^-150 where it is subnormal.
//
// On hosts, what is quantized is the sum t of the k operands of a host, in floats: |t| <= (1 + γ(k-1))·Σ|x|, and so are
// its maxima. Since e(x + y, M + N) <= e(x, M) + e(y, N), its error is at most (1 + γ(k-1))·Σe(x, M). Among m hosts a
// sum goes through k-1 additions and m-1 more, at most n-1 in all, and (1 + γ(i))(1 + γ(j)) <= 1 + γ(i+j). So first is
// the same, and so is the rest.
func (o Options) ErrorBound(op fast.Op, operands, maxima []float32) float64 {
	if len(operands) != len(maxima) || len(operands) == 0 || int(o.Format) >= len(formats) ||
		op != fast.Sum && op != fast.Avg {
		return math.NaN()
	}
	f, n := &formats[o.Format], float64(len(operands))
	var x, errors, largest float64
	for i := range operands {
		a, m := math.Abs(float64(operands[i])), math.Abs(float64(maxima[i]))
		x, errors, largest = x+a, errors+f.bound(a, m), largest+m+f.bound(m, m)
	}
	gamma := fast.Sum.ErrorBound(spec.TypeFloat32, len(operands)-1, len(operands))
	first := (1+gamma)*errors + gamma*x
	largest *= 1 + gamma
	if !(largest <= math.MaxFloat32 && x+first <= math.MaxFloat32) {
		return math.Inf(1)
	}
	bound := first + f.bound(x+first, largest)
	if op == fast.Avg {
		bound = (bound+unit*(x+bound))/n + 0x1p-150
	}
	return bound * (1 + (n+64)*0x1p-52) // what this function itself has rounded
}

// unit is half of the last place of a float32 in [1, 2).
const unit = 0x1p-24

// bound is e of ErrorBound.
func (f *format) bound(x, largest float64) float64 {
	if largest == 0 {
		return 0
	}
	const v = 3*unit + 3*unit*unit + unit*unit*unit
	scale := max(largest/float64(f.most), float64(f.leastScale()))
	return v*x + (1+v)*max(f.rel*x, float64(f.tiny)/2*scale)
}
