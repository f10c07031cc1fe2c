package quantized

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/fast"
)

// BenchmarkBlock measures what becomes of a block of 256 elements, in bytes of float32.
func BenchmarkBlock(b *testing.B) {
	x := Options{}.inputs("normal, of other magnitude on each rank", 1, 1, 256)[0]
	sums := make([]float32, len(x))
	encoded := make([]byte, scaleBytes+len(x))
	for i := range formats {
		f := &formats[i]
		for name, work := range map[string]func(){
			"encode": func() { f.encode(encoded, x) },
			"decode": func() { f.decode(sums, encoded) },
			"add":    func() { f.add(sums, encoded) },
		} {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				f.encode(encoded, x)
				b.SetBytes(int64(4 * len(x)))
				for b.Loop() {
					work()
				}
			})
		}
	}
}

// BenchmarkError reports the errors of sums of normally distributed operands on 4 ranks, in percent of the standard
// deviation of the sums: the root of the mean square, the largest one, and the bound for any element of the first
// block.
func BenchmarkError(b *testing.B) {
	const size, count = 4, 1 << 16
	inputs := make([][]float32, size)
	for rank := range inputs {
		r := rand.New(rand.NewPCG(7, uint64(rank)))
		for range count {
			inputs[rank] = append(inputs[rank], float32(r.NormFloat64()))
		}
	}
	for _, o := range []Options{{}, {Block: 32}, {Format: Float8E4M3}, {Format: Float8E5M2}} {
		b.Run(o.String(), func(b *testing.B) {
			var squares, largest, bound float64
			for b.Loop() {
				squares, largest, bound = 0, 0, 0
				for i, got := range o.model(fast.Sum, inputs) {
					exact := 0.0
					for _, in := range inputs {
						exact += float64(in[i])
					}
					off := float64(got) - exact
					squares, largest = squares+off*off, max(largest, math.Abs(off))
				}
				maxima := o.maximaOf(inputs, 0)
				bound = o.ErrorBound(fast.Sum, maxima, maxima)
			}
			deviation := math.Sqrt(size) / 100
			b.ReportMetric(math.Sqrt(squares/count)/deviation, "%rms")
			b.ReportMetric(largest/deviation, "%largest")
			b.ReportMetric(bound/deviation, "%bound")
		})
	}
}
