package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.Reduce, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: size, Gamma: sub(size, one)},
	Chunks: size,
})

var _ = rules(spec.Reduce,
	gen.Rule{Algorithm: "binomial", MaxSize: 2},
	gen.Rule{Transport: "shm", Algorithm: "linear", MaxSize: 16, MaxBytes: 256 * kib}, // reduced where it lies
	gen.Rule{Transport: "shm", Algorithm: "binomial", MaxBytes: 256 * kib},
	gen.Rule{Transport: "shm", Algorithm: "chain", PieceBytes: 128 * kib},
	gen.Rule{Transport: "tcp", Algorithm: "linear", MinSize: 5, MaxSize: 8, MaxBytes: 4 * kib}, // one latency
	gen.Rule{Transport: "mixed", Algorithm: "two-level", MaxBytes: 1024 * kib},                 // crosses each link once
	gen.Rule{Algorithm: "binomial", MaxBytes: 1024 * kib},
	gen.Rule{Algorithm: "chain", PieceBytes: 128 * kib},
)
