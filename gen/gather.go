package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Gather, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Gather,
	Rule{Algorithm: "linear", MaxSize: 8},
	Rule{Algorithm: "binomial", MaxBytes: 4 * kib},
	Rule{Algorithm: "linear"},
)
