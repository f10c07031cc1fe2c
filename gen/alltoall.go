package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.AllToAll, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.AllToAll,
	Rule{Algorithm: "direct", MaxSize: 8},
	Rule{Algorithm: "direct", MaxBytes: 4 * kib},
	Rule{Algorithm: "pairwise"},
)
