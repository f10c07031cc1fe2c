package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.AllReduce, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
	Chunks: size,
})

// What they follow was measured with 2 and 4 processes on two cores.
var _ = rules(spec.AllReduce,
	Rule{Algorithm: "recursive-doubling", MaxSize: 2, MaxBytes: 16 * kib}, // one exchange, reduced as it arrives
	Rule{Algorithm: "ring", MaxSize: 2},
	Rule{Algorithm: "one-shot", MaxSize: 4, MaxBytes: 4 * kib},
	Rule{Algorithm: "one-shot", MaxSize: 8, MaxBytes: 256},
	Rule{Algorithm: "recursive-doubling", MaxBytes: 16 * kib},
	Rule{Algorithm: "tree", MaxBytes: 512 * kib},
	Rule{Algorithm: "ring"},
)
