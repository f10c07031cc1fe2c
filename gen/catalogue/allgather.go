package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.AllGather, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.AllGather,
	gen.Rule{Transport: "mixed", Algorithm: "two-level"}, // each block crosses the link to another host once
	gen.Rule{Transport: "tcp", Algorithm: "recursive-doubling", MaxBytes: 128 * kib},
	gen.Rule{Algorithm: "direct", MaxSize: 8},
	gen.Rule{Algorithm: "recursive-doubling", MaxBytes: 4 * kib},
	gen.Rule{Algorithm: "ring"},
)
