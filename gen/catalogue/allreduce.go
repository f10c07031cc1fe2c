package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.AllReduce, Bound{
	Cost:   gen.Cost{Alpha: ceilLog2(size), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
	Chunks: size,
})

var _ = rules(spec.AllReduce,
	gen.Rule{Transport: "inproc", Algorithm: "tree", MaxBytes: 512 * kib}, // the fewest messages
	gen.Rule{Transport: "inproc", Algorithm: "ring"},
	// one exchange, reduced as it arrives
	gen.Rule{Transport: "shm", Algorithm: "recursive-doubling", MaxSize: 2, MaxBytes: 128 * kib},
	// In the memory of fast.Alloc rings are faster by a third, and in other memory by a sixth up to 8 MiB; at 16 MiB
	// one in pieces, which passes on what is still in the cache, by as much or more.
	gen.Rule{Transport: "shm", Algorithm: "ring", MaxSize: 2, MaxBytes: 4 * mib},
	gen.Rule{Transport: "shm", Algorithm: "segmented-ring", MaxSize: 2, MaxBytes: 16 * mib, PieceBytes: 4 * mib},
	gen.Rule{Transport: "shm", Algorithm: "recursive-doubling", MaxSize: 2},
	gen.Rule{Algorithm: "recursive-doubling", MaxSize: 2, MaxBytes: 2 * mib},
	gen.Rule{Algorithm: "ring", MaxSize: 2},
	// Written once, reduced where it lies, and the fewest steps, in each of which ranks have to take turns if cores are
	// few.
	gen.Rule{Transport: "shm", Algorithm: "one-shot", MaxSize: 16, MaxBytes: 32 * kib},
	gen.Rule{Transport: "shm", Algorithm: "two-shot", MaxSize: 16, MaxBytes: 1024 * kib},
	// One step, and between hosts one latency. But where ranks may have to take turns on the processors of a host, it
	// is the messages of all together that count, and from some size on the steps count less than these.
	gen.Rule{Algorithm: "one-shot", MaxSize: 4, MaxPerHost: 2, MaxBytes: 4 * kib},
	gen.Rule{Algorithm: "one-shot", MaxSize: 8, MaxPerHost: 2, MaxBytes: 256},
	// Three or four ranks, each on a host of its own: from 16 KiB on, it is the bytes over each link that count. The
	// times are in docs/selection.md.
	gen.Rule{Transport: "tcp", Algorithm: "recursive-doubling", MaxSize: 4, MaxPerHost: 1, MaxBytes: 8 * kib},
	gen.Rule{Transport: "tcp", Algorithm: "ring", MaxSize: 4, MaxPerHost: 1},
	gen.Rule{Algorithm: "recursive-doubling", MaxSize: 4, MaxPerHost: 2, MaxBytes: 64 * kib},
	// Between hosts of several ranks, the leaders alone send: one message in each step over a link. The times are in
	// docs/selection.md.
	gen.Rule{Transport: "mixed", Algorithm: "leaders", MaxBytes: 64 * kib},
	gen.Rule{Transport: "mixed", Algorithm: "two-level"},
	gen.Rule{Algorithm: "recursive-doubling", MaxBytes: 16 * kib},
	// Many ranks on few cores take turns on them in every step, so that two steps are better than many, whatever is
	// sent.
	gen.Rule{Transport: "shm", Algorithm: "two-shot", MinSize: 17, MaxBytes: 16 * mib},
	gen.Rule{Algorithm: "tree", MaxBytes: 256 * kib},
	gen.Rule{Transport: "shm", Algorithm: "ring", MaxBytes: 8 * mib},
	gen.Rule{Transport: "shm", Algorithm: "segmented-ring", PieceBytes: 4 * mib},
	// Of powers of two: the bytes of the ring in fewer steps, in each of which ranks of a host take turns on its cores.
	// The times are in docs/lab/performance.md.
	gen.Rule{Transport: "tcp", Algorithm: "swing", MinSize: 4, MaxSize: 4, MaxBytes: 32 * mib},
	gen.Rule{Transport: "tcp", Algorithm: "swing", MinSize: 8, MaxSize: 8, MaxBytes: 32 * mib},
	gen.Rule{Algorithm: "ring"},
	// Only reproducible sums and ops that are not commutative get here. From some size on, what is sent and reduced
	// counts.
	gen.Rule{Algorithm: "one-shot", MaxBytes: 4 * kib},
	gen.Rule{Algorithm: "two-shot"},
)
