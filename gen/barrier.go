package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Barrier, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: zero, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Barrier, Rule{Algorithm: "dissemination"})
