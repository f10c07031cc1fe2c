package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.AllGather, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.AllGather,
	Rule{Transport: "tcp", Algorithm: "recursive-doubling", MaxBytes: 128 * kib},
	Rule{Algorithm: "direct", MaxSize: 8},
	Rule{Algorithm: "recursive-doubling", MaxBytes: 4 * kib},
	Rule{Algorithm: "ring"},
)
