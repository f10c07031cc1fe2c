package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.AllReduce, Bound{
	Cost:   Cost{Alpha: ceilLog2(size), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
	Chunks: size,
})

var _ = rules(spec.AllReduce,
	Rule{Transport: "inproc", Algorithm: "tree", MaxBytes: 512 * kib}, // the fewest messages
	Rule{Transport: "inproc", Algorithm: "ring"},
	Rule{Transport: "shm", Algorithm: "recursive-doubling", MaxSize: 2, MaxBytes: 128 * kib}, // one exchange, reduced as it arrives
	// In the memory of fast.Alloc rings are faster by a third, and in other memory by a sixth up to 8 MiB; at 16 MiB one in pieces,
	// which passes on what is still in the cache, by as much or more.
	Rule{Transport: "shm", Algorithm: "ring", MaxSize: 2, MaxBytes: 4 * mib},
	Rule{Transport: "shm", Algorithm: "segmented-ring", MaxSize: 2, MaxBytes: 16 * mib, PieceBytes: 4 * mib},
	Rule{Transport: "shm", Algorithm: "recursive-doubling", MaxSize: 2},
	Rule{Algorithm: "recursive-doubling", MaxSize: 2, MaxBytes: 2 * mib},
	Rule{Algorithm: "ring", MaxSize: 2, MaxBytes: 4 * mib},
	Rule{Algorithm: "segmented-ring", MaxSize: 2, PieceBytes: 2 * mib},
	// Written once, reduced where it lies, and the fewest steps, in each of which ranks have to take turns if cores are few.
	Rule{Transport: "shm", Algorithm: "one-shot", MaxSize: 16, MaxBytes: 32 * kib},
	Rule{Transport: "shm", Algorithm: "two-shot", MaxSize: 16, MaxBytes: 1024 * kib},
	// One step, and between hosts one latency. But where ranks may have to take turns on the processors of a host, it is the
	// messages of all together that count, and from some size on the steps count less than these.
	Rule{Algorithm: "one-shot", MaxSize: 4, MaxPerHost: 2, MaxBytes: 4 * kib},
	Rule{Algorithm: "one-shot", MaxSize: 8, MaxPerHost: 2, MaxBytes: 256},
	Rule{Algorithm: "recursive-doubling", MaxSize: 4, MaxPerHost: 2, MaxBytes: 64 * kib},
	Rule{Algorithm: "recursive-doubling", MaxBytes: 16 * kib},
	// Many ranks on few cores take turns on them in every step, so that two steps are better than many, whatever is sent.
	Rule{Transport: "shm", Algorithm: "two-shot", MinSize: 17, MaxBytes: 16 * mib},
	Rule{Algorithm: "tree", MaxBytes: 256 * kib},
	Rule{Transport: "shm", Algorithm: "ring", MaxBytes: 8 * mib},
	Rule{Transport: "shm", Algorithm: "segmented-ring", PieceBytes: 4 * mib},
	Rule{Algorithm: "ring"},
)
