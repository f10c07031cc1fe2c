package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.AllToAll, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.AllToAll,
	// It sends as many bytes over a link, in fewer messages.
	gen.Rule{Transport: "mixed", Algorithm: "two-level", MaxBytes: 8 * kib},
	gen.Rule{Algorithm: "direct", MaxSize: 8},
	gen.Rule{Algorithm: "direct", MaxBytes: 4 * kib},
	gen.Rule{Algorithm: "pairwise"},
)
