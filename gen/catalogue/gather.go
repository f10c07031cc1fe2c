package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.Gather, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Gather,
	gen.Rule{Algorithm: "linear", MaxSize: 8},
	gen.Rule{Algorithm: "binomial", MaxBytes: 4 * kib},
	gen.Rule{Algorithm: "linear"},
)
