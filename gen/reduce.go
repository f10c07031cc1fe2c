package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Reduce, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: size, Gamma: sub(size, one)},
	Chunks: size,
})

var _ = rules(spec.Reduce,
	Rule{Algorithm: "binomial", MaxSize: 2},
	Rule{Transport: "shm", Algorithm: "linear", MaxSize: 16, MaxBytes: 256 * kib}, // reduced where it lies
	Rule{Transport: "shm", Algorithm: "binomial", MaxBytes: 256 * kib},
	Rule{Transport: "shm", Algorithm: "chain", PieceBytes: 128 * kib},
	Rule{Transport: "tcp", Algorithm: "linear", MinSize: 5, MaxSize: 8, MaxBytes: 4 * kib}, // one latency
	Rule{Algorithm: "binomial", MaxBytes: 1024 * kib},
	Rule{Algorithm: "chain", PieceBytes: 128 * kib},
)
