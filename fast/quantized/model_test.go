package quantized

import (
	"math"
	"math/rand/v2"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// The model says what the documentation does, element by element.

// nearest returns the number of a format that is nearest to y.
var nearest = [...]func(y float32) float32{
	Int8:       func(y float32) float32 { return float32(int8(math.RoundToEven(float64(y)))) },
	Float8E4M3: func(y float32) float32 { return spec.NewFloat8E4M3(y).Float32() },
	Float8E5M2: func(y float32) float32 { return spec.NewFloat8E5M2(y).Float32() },
}

// largestOf returns the largest magnitude in x, or a NaN or an infinity if there is one.
func largestOf(x []float32) float32 {
	largest := float32(0)
	for _, x := range x {
		largest = max(largest, float32(math.Abs(float64(x)))) // a NaN wins
	}
	return largest
}

// quantized returns what remains of a block.
func (o Options) quantized(x []float32) []float32 {
	most := [...]float32{127, 448, 57344}[o.Format]
	least := [...]float32{0x1p-126, 0x1p-117, 0x1p-110}[o.Format]
	out, largest := make([]float32, len(x)), largestOf(x)
	s := max(largest/most, least)
	if !(largest <= math.MaxFloat32) {
		s = math.Float32frombits(nan)
	} else if float64(s)*float64(most) >= 0x1.ffffffp127 { // the float32 nearest to that is infinite
		s = math.Nextafter32(s, 0)
	}
	for i := range x {
		if out[i] = s; s == s {
			out[i] = nearest[o.Format](x[i]*(1/s)) * s
		}
	}
	return out
}

// model returns the result of a call with the inputs of all ranks.
func (o Options) model(op fast.Op, inputs [][]float32) []float32 {
	size, count := len(inputs), len(inputs[0])
	result := make([]float32, count)
	if size == 1 {
		copy(result, inputs[0])
		return result
	}
	blocks := (count + o.block() - 1) / o.block()
	for owner := range size {
		first, last := fast.Shard(blocks, owner, size)
		for b := first; b < last; b++ {
			lo, hi := b*o.block(), min((b+1)*o.block(), count)
			var sums []float32
			for rank, in := range inputs {
				x := in[lo:hi]
				if rank != owner {
					x = o.quantized(x)
				}
				if sums == nil {
					sums = append(sums, x...)
					continue
				}
				for i := range sums {
					sums[i] += x[i]
				}
			}
			copy(result[lo:hi], o.quantized(sums))
		}
	}
	if op == fast.Avg {
		for i := range result {
			result[i] /= float32(size)
		}
	}
	return result
}

// same reports whether x and y have the same bits.
func same(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }

// kinds are inputs of a rank, one element of a block each.
var kinds = map[string]func(r *rand.Rand, rank, inBlock int) float32{
	"uniform": func(r *rand.Rand, _, _ int) float32 { return 2*r.Float32() - 1 },
	"normal, of other magnitude on each rank": func(r *rand.Rand, rank, _ int) float32 {
		return float32(math.Ldexp(r.NormFloat64(), -5*rank))
	},
	"of all magnitudes": func(r *rand.Rand, _, _ int) float32 {
		return float32(math.Ldexp(r.NormFloat64(), r.IntN(240)-125))
	},
	"halfway": func(r *rand.Rand, rank, inBlock int) float32 {
		if inBlock == 0 {
			return 127
		}
		return float32(r.IntN(127)) + 0.5 - float32(rank)/64
	},
	"of rank 1 alone": func(r *rand.Rand, rank, _ int) float32 {
		if rank != 1 {
			return 0
		}
		return r.Float32()
	},
	"of rank 1, and little of rank 0": func(r *rand.Rand, rank, inBlock int) float32 {
		switch rank {
		case 0:
			return 0x1p-5 * r.Float32()
		case 1:
			if inBlock == 0 {
				return 1
			}
			return 1 - r.Float32()/8
		}
		return 0
	},
	"zero":      func(r *rand.Rand, _, _ int) float32 { return float32(math.Copysign(0, r.Float64()-0.5)) },
	"subnormal": func(r *rand.Rand, _, _ int) float32 { return math.Float32frombits(r.Uint32N(1 << 23)) },
	"tiny":      func(r *rand.Rand, _, _ int) float32 { return float32(math.Ldexp(r.NormFloat64(), -115)) },
	"huge":      func(r *rand.Rand, _, _ int) float32 { return (2*r.Float32() - 1) * 0x1p124 },
	"cancelled": func(r *rand.Rand, rank, _ int) float32 { return float32(1-2*(rank%2)) + 0x1p-8*r.Float32() },
	"anything":  func(r *rand.Rand, _, _ int) float32 { return math.Float32frombits(r.Uint32()) },
	"largest": func(r *rand.Rand, rank, _ int) float32 {
		if rank > 0 {
			return 0
		}
		return math.MaxFloat32 * (1 - 2*float32(r.IntN(2)))
	},
}

// inputs returns the inputs of all ranks.
func (o Options) inputs(kind string, seed uint64, size, count int) [][]float32 {
	all := make([][]float32, size)
	for rank := range all {
		r := rand.New(rand.NewPCG(seed, uint64(rank)))
		all[rank] = make([]float32, count)
		for i := range all[rank] {
			all[rank][i] = kinds[kind](r, rank, i%o.block())
		}
	}
	return all
}
