package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Broadcast, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: one, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Broadcast,
	Rule{Algorithm: "binomial", MaxSize: 2},
	Rule{Transport: "shm", Algorithm: "linear", MaxSize: 16, MaxBytes: 16 * mib}, // written once, for all
	Rule{Algorithm: "binomial", MaxBytes: 256 * kib},
	Rule{Algorithm: "chain", PieceBytes: 128 * kib},
)
