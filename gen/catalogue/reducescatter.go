package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.ReduceScatter, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: sub(size, one)},
	Chunks: one,
})

var _ = rules(spec.ReduceScatter,
	gen.Rule{Transport: "mixed", Algorithm: "two-level"}, // one block of sums crosses a link, instead of one for each rank
	gen.Rule{Algorithm: "ring", MaxSize: 2},              // one step, reduced as it arrives
	gen.Rule{Transport: "inproc", Algorithm: "direct", MaxSize: 8, MaxBytes: 128 * kib},
	gen.Rule{Transport: "inproc", Algorithm: "ring", MaxSize: 8},
	gen.Rule{Algorithm: "direct", MaxSize: 8},
	gen.Rule{Algorithm: "direct", MaxBytes: 4 * kib}, // as many messages as the ring, but one step
	gen.Rule{Algorithm: "ring"},
)
