package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Barrier, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: zero, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Barrier,
	Rule{Transport: "shm", Algorithm: "direct", MaxSize: 16}, // one step, and so one round of switches where cores are few
	Rule{Algorithm: "dissemination"},
)
