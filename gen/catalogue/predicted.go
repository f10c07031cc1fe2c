package catalogue

import "github.com/collgen/collgen/gen"

// predicted are the rules of ranks that talk over RDMA, one on each host, by the primitive's name. They count before
// those that rules has registered, which are followed where several such ranks are on a host.
//
// They were not measured, because no hardware was at hand. What differs from TCP is that a message takes 2 µs in place
// of 20 or more, of which 0.3 are work of each end, and that a link of 12 GB/s carries a byte in little more time than
// it takes to copy or to reduce it. So messages to many at once, in one step or two, stay better than steps behind each
// other up to a dozen ranks and longer blocks; but not where each rank reduces or sends all bytes of all others.
// `collgen cost -machine docs/rdma.json` plays them on hosts with such links. A test keeps what calls among up to 32
// ranks get within a quarter of the best algorithm there.
var predicted = map[string][]gen.Rule{
	"AllGather": overRDMA(
		gen.Rule{Algorithm: "direct", MaxSize: 9},
		// half as many steps, whose messages are on their way together
		gen.Rule{Algorithm: "k-bruck-4", MaxSize: 16, MaxBytes: 512},
		gen.Rule{Algorithm: "direct", MaxSize: 16},
		gen.Rule{Algorithm: "k-bruck-8", MaxBytes: 512},
		gen.Rule{Algorithm: "k-bruck-8", MaxSize: 24, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "direct", MaxSize: 24, MaxBytes: 128 * kib},
		// Of powers of two, recursive doubling is no more than a ninth faster.
		gen.Rule{Algorithm: "circulant", MaxBytes: 16 * kib},
		gen.Rule{Algorithm: "direct", MaxBytes: 128 * kib},
	),
	"AllReduce": overRDMA(
		gen.Rule{Algorithm: "recursive-doubling", MaxSize: 2},
		gen.Rule{Algorithm: "one-shot", MaxSize: 12, MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "two-shot", MaxSize: 12, MaxBytes: 512 * kib},
		// Of powers of two, as below. Of 64 ranks these are three steps in place of six.
		gen.Rule{Algorithm: "recursive-multiplying-4", MinSize: 16, MaxSize: 16, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "recursive-multiplying-4", MinSize: 32, MaxSize: 32, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "recursive-multiplying-4", MinSize: 64, MaxSize: 64, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "recursive-doubling", MaxBytes: 32 * kib},
		// Of powers of two, where all ranks are players. Of 8 ranks it is no more than an eighth faster.
		gen.Rule{Algorithm: "rabenseifner", MinSize: 16, MaxSize: 16, MaxBytes: 4 * mib},
		gen.Rule{Algorithm: "rabenseifner", MinSize: 32, MaxSize: 32, MaxBytes: 4 * mib},
		gen.Rule{Algorithm: "rabenseifner", MinSize: 64, MaxSize: 64, MaxBytes: 4 * mib},
		gen.Rule{Algorithm: "two-shot", MaxBytes: 1024 * kib},
	),
	"AllGatherV": overRDMA(
		gen.Rule{Algorithm: "direct", MaxBytes: 128 * kib},
	),
	"AllToAll": overRDMA(
		gen.Rule{Algorithm: "bruck", MinSize: 17, MaxBytes: 32},
		gen.Rule{Algorithm: "bruck", MinSize: 25, MaxBytes: 128},
		gen.Rule{Algorithm: "direct", MaxBytes: 128 * kib}, // as many bytes as step by step, and no waiting for each other
	),
	"Barrier": overRDMA(
		gen.Rule{Algorithm: "direct", MaxSize: 9},
		gen.Rule{Algorithm: "k-dissemination-4"}, // half as many steps, whose messages are on their way together
	),
	"Broadcast": overRDMA(
		gen.Rule{Algorithm: "binomial", MaxSize: 2},
		gen.Rule{Algorithm: "linear", MaxSize: 8, MaxBytes: 16 * kib},
		gen.Rule{Algorithm: "linear", MaxSize: 16, MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "k-nomial-4", MaxSize: 16, MaxBytes: 8 * kib},
		gen.Rule{Algorithm: "k-nomial-8", MaxBytes: 8 * kib},
		gen.Rule{Algorithm: "binomial", MaxBytes: 32 * kib},
		gen.Rule{Algorithm: "circulant-8", MinSize: 33, MaxSize: 64, MaxBytes: mib},
		gen.Rule{Algorithm: "binomial", MaxBytes: 64 * kib},
		gen.Rule{Algorithm: "circulant-8", MinSize: 12, MaxSize: 64, MaxBytes: mib},
		gen.Rule{Algorithm: "scatter-allgather", MaxSize: 16, MaxBytes: 512 * kib},
		gen.Rule{Algorithm: "binomial", MaxBytes: 256 * kib}, // more than 64 ranks
		gen.Rule{Algorithm: "chain", MaxSize: 16, MaxBytes: 8 * mib, PieceBytes: 64 * kib},
		gen.Rule{Algorithm: "circulant-32", MaxSize: 64, MaxBytes: 8 * mib},
		gen.Rule{Algorithm: "scatter-allgather", MaxBytes: 8 * mib}, // more than 64 ranks
	),
	"Exscan": overRDMA( // before a chain or a scan, blocks go to the next rank: a step more
		gen.Rule{Algorithm: "direct", MinSize: 3, MaxSize: 3, MaxBytes: 32 * kib},
		gen.Rule{Algorithm: "direct", MinSize: 3, MaxSize: 7, MaxBytes: 8 * kib},
		gen.Rule{Algorithm: "direct", MinSize: 3, MaxSize: 12, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "direct", MinSize: 3, MaxSize: 16, MaxBytes: 512},
	),
	"Gather": toOrFromARoot(),
	"Reduce": overRDMA(
		gen.Rule{Algorithm: "linear", MinSize: 4, MaxSize: 8, MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "binomial", MaxSize: 2},
		gen.Rule{Algorithm: "binomial", MaxSize: 3, MaxBytes: 64 * kib},
		gen.Rule{Algorithm: "k-nomial-8", MaxSize: 12, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "k-nomial-4", MaxSize: 17, MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "k-nomial-8", MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "binomial", MaxBytes: 64 * kib},
		gen.Rule{Algorithm: "binomial", MinSize: 5, MaxBytes: 128 * kib},
		gen.Rule{Algorithm: "chain", MaxSize: 8, MaxBytes: 4 * mib, PieceBytes: 64 * kib},
		gen.Rule{Algorithm: "scatter-gather", MinSize: 13, MaxBytes: 512 * kib},
		gen.Rule{Algorithm: "binomial", MaxBytes: 256 * kib},
		gen.Rule{Algorithm: "chain", MinSize: 9, MaxBytes: 8 * mib, PieceBytes: 32 * kib},
	),
	"ReduceScatter": overRDMA(
		gen.Rule{Algorithm: "ring", MaxSize: 2},
		gen.Rule{Algorithm: "halving", MinSize: 17, MaxBytes: 512},
		gen.Rule{Algorithm: "direct", MaxBytes: 32 * kib},
		gen.Rule{Algorithm: "ring"},
	),
	"ReduceScatterV": overRDMA(
		gen.Rule{Algorithm: "ring", MaxSize: 2},
		gen.Rule{Algorithm: "direct", MaxBytes: 32 * kib},
		gen.Rule{Algorithm: "ring"},
	),
	"Scan": overRDMA(
		gen.Rule{Algorithm: "direct", MinSize: 4, MaxSize: 4, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "direct", MinSize: 4, MaxSize: 12, MaxBytes: 512},
	),
	"Scatter": toOrFromARoot(),
}

// toOrFromARoot returns the rules of gather and scatter, which cost the same there.
func toOrFromARoot() []gen.Rule {
	return overRDMA(
		gen.Rule{Algorithm: "linear", MaxSize: 12}, // a root that takes or sends all
		// a root with few messages in each of two or three steps
		gen.Rule{Algorithm: "k-nomial-4", MaxSize: 20, MaxBytes: kib},
		gen.Rule{Algorithm: "linear", MaxSize: 20},
		gen.Rule{Algorithm: "k-nomial-8", MaxSize: 32, MaxBytes: 2 * kib},
		gen.Rule{Algorithm: "linear", MaxSize: 32},
		gen.Rule{Algorithm: "k-nomial-8", MaxSize: 64, MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "binomial", MinSize: 65, MaxBytes: 512}, // k-nomial serves no more than 64
		gen.Rule{Algorithm: "linear"},
	)
}

// overRDMA has rules hold where each rank is on its own host, and say where they come from.
func overRDMA(list ...gen.Rule) []gen.Rule {
	for i := range list {
		list[i].Transport, list[i].MaxPerHost, list[i].Predicted = "rdma", 1, true
	}
	return list
}

const (
	kib = 1 << 10
	mib = 1 << 20
)
