package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.Broadcast, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: one, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Broadcast,
	gen.Rule{Algorithm: "linear", MaxSize: 2},                                        // one message: little else
	gen.Rule{Transport: "shm", Algorithm: "linear", MaxSize: 16, MaxBytes: 16 * mib}, // written once, for all
	gen.Rule{Transport: "mixed", Algorithm: "two-level", MaxBytes: 256 * kib},        // crosses each link once
	gen.Rule{Algorithm: "binomial", MaxBytes: 256 * kib},
	gen.Rule{Algorithm: "chain", PieceBytes: 128 * kib},
)
