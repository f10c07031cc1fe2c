package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.Barrier, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: zero, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Barrier,
	// one step, and so one round of switches where cores are few
	gen.Rule{Transport: "shm", Algorithm: "direct", MaxSize: 16},
	gen.Rule{Transport: "mixed", Algorithm: "two-level"},
	gen.Rule{Algorithm: "dissemination"},
)
