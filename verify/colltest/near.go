package colltest

import (
	"math"

	"github.com/collgen/collgen/spec"
)

// Exact numbers are slow, and nearly all results are so good that float64 shows them to be within the bound.

// nearly makes up for the roundings of a comparison.
const nearly = 1 - 1e-9

// sumIsNear reports whether got is shown to be within the bound of the sum, or of the average.
func (j judging) sumIsNear(xs []float64, got float64) bool {
	total, errs, size := 0.0, 0.0, 0.0
	for _, x := range xs {
		sum := total + x
		rest := sum - total
		errs += (total - (sum - rest)) + (x - rest) // what the addition has rounded away (Knuth, TAOCP 4.2.2)
		total, size = sum, size+math.Abs(x)
	}
	rounded := 0x1p-80 * size
	if j.op == spec.OpAvg {
		got *= float64(j.size)
		rounded += 0x1p-52 * math.Abs(got)
	}
	off := math.Abs(total-got) + math.Abs(errs) + rounded
	return got != 0 && size < largest(j.t)/2 && off <= j.bound()*size*nearly
}

// productIsNear reports whether got is shown to be within the bound of the product, with no tree that over- or
// underflows. float64 itself has no bits to spare.
func (j judging) productIsNear(xs []float64, got float64) bool {
	if j.t.Precision() > 24 {
		return false
	}
	product, above, below := 1.0, 1.0, 1.0
	for _, x := range xs {
		product *= x
		above *= max(math.Abs(x), 1)
		below *= min(math.Abs(x), 1)
	}
	off := math.Abs(product-got) + 0x1p-52*float64(len(xs))*math.Abs(product)
	return above < largest(j.t)/2 && below > 4*normal(j.t) && off <= j.bound()*math.Abs(product)*nearly
}
