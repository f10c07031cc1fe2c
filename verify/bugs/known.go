package bugs

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

var (
	v              = spec.Var
	zero, one, two = spec.Int(0), spec.Int(1), spec.Int(2)
)

const (
	ompi  = "https://github.com/open-mpi/ompi/"
	mpich = "https://github.com/pmodels/mpich/"
	ucc   = "https://github.com/openucx/ucc/"
	mlx   = "https://github.com/ml-explore/mlx/"
)

// Known are bugs of other libraries, by library.
var Known = []Bug{
	{Library: "Open MPI", Reference: ompi + "commit/66b6b8d34e",
		What: "In the scatter and all-gather broadcast a rank without data posted a receive that was shorter than the " +
			"message sent to it.",
		In:    catalogue.BroadcastScatterAllGather,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Max(one, spec.Sub(x.Into.N, v("place"))) }),
		Check: verify.Length},
	{Library: "Open MPI", Reference: ompi + "commit/b682b635c1",
		What: "The double ring barrier computed (rank-1) mod size, which is -1 on rank 0, and -1 happens to mean: " +
			"from anybody.",
		In:    catalogue.BarrierDissemination,
		Plant: edit.Let("from", 0, func(x *gen.Let) { x.Is = spec.Sub(spec.Rank, spec.Shl(one, v("k"))) }),
		Check: verify.Program, Says: "-1"},
	{Library: "Open MPI", Reference: ompi + "commit/82a3a5bdb5",
		What: "The all-gather half of Rabenseifner's all-reduce began at the wrong one of the steps whose windows it goes " +
			"back through.",
		Here:  "The second trip around the ring begins with the chunk that the first one began with.",
		In:    catalogue.AllReduceRing,
		Plant: edit.Let("c", 1, func(x *gen.Let) { x.Is = spec.Down(spec.Sub(spec.Rank, v("s")), spec.Size) }),
		Check: verify.Uninitialized},
	{Library: "Open MPI", Reference: ompi + "commit/006c4e9427",
		What:  "The pipelined hierarchical all-reduce sent the last, shorter segment with the length of a full one.",
		In:    catalogue.AllReduceTwoShot,
		Plant: edit.Set(1, func(x *gen.Send) { x.Data = gen.Chunk(spec.Out, zero) }), Check: verify.Length},
	{Library: "Open MPI", Reference: ompi + "issues/9385",
		What: "The ring all-reduce of libnbc received into the result before it read its own operand, which in place is " +
			"the same memory (repaired in ff03f43b58).",
		In: catalogue.AllReduceRing, Plant: receiveFirst, Check: verify.Postcondition, Says: "in place"},
	{Library: "Open MPI", Reference: ompi + "pull/2900",
		What: "The in-place all-gather took a rank's own block from where the blocks before it would end, and not from its " +
			"displacement.",
		In: catalogue.AllGatherRing,
		Plant: edit.Set(0, func(x *gen.Send) {
			x.Data.At = spec.If(spec.Eq(v("s"), zero), spec.Down(spec.Sub(spec.Rank, one), spec.Size), x.Data.At)
		}), Check: verify.Race},
	{Library: "Open MPI", Reference: ompi + "pull/14197",
		What: "In the hierarchical gather ranks of one node had different ideas of which node that is: one left its part " +
			"out, and the leader waited for it forever.",
		Here:  "A rank takes the first rank of its half of the tree for the leader, also where that is the root's half.",
		In:    catalogue.ReduceBinomial,
		Plant: edit.Let("leader", 0, func(x *gen.Let) { x.Is = v("lo") }), Check: verify.Unmatched},
	{Library: "Open MPI", Reference: ompi + "pull/12198",
		What: "The all-to-all of uneven blocks left both directions of an exchange out where only one of them was empty " +
			"(repaired in f242d0d860).",
		Here:  "Rank 0 takes no part in the exchanges.",
		In:    catalogue.AllToAllPairwise,
		Plant: edit.Set(0, func(x *gen.If) { x.Cond = spec.And(x.Cond, spec.Ne(spec.Rank, zero)) }), Check: verify.Unmatched},
	{Library: "Open MPI", Reference: ompi + "pull/12258",
		What: "Every rank reduced its own operand first and then those of the others: each had a sum with other bits.",
		In:   catalogue.AllReduceOneShot,
		Plant: edit.All(commutative, edit.Set(0, func(x *gen.Reduce) {
			x.From.At = spec.If(spec.Eq(v("i"), zero), spec.Rank, spec.If(spec.Le(v("i"), spec.Rank), spec.Sub(v("i"), one),
				v("i")))
		})), Check: verify.Order, Says: "the tree of the ranks before it"},
	{Library: "Open MPI", Reference: ompi + "issues/2879",
		What: "The chained reduce read the root's operand from where, in place, what it had received already was.",
		Here: "A reduce of two ranks whose root receives into the result before it has read its operand.",
		In:   ofTwoRanks, Plant: inOneStep, Check: verify.Postcondition, Says: "in place"},

	{Library: "MPICH", Reference: mpich + "commit/456c1ed1b4",
		What: "In the scatter and all-gather broadcast, which rounds chunks up, the last ranks have no data, and the " +
			"length of their receive was negative.",
		In:    catalogue.BroadcastScatterAllGather,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Sub(spec.Sub(spec.Size, one), spec.Mul(two, v("place"))) }),
		Check: verify.Program,
		Says:  "out of range"},
	{Library: "MPICH", Reference: mpich + "commit/af33aacb09",
		What: "The broadcast computed how much a rank has after the scatter from its rank, and not from its rank relative " +
			"to the root.",
		In: catalogue.BroadcastScatterAllGather,
		Plant: edit.Let("mine", 0, func(x *gen.Let) {
			below := spec.Min(spec.BitAnd(spec.Rank, spec.Sub(zero, spec.Rank)), spec.Sub(spec.Size, spec.Rank))
			x.Is = spec.If(spec.Eq(spec.Rank, spec.Root), spec.Size, below)
		}), Check: verify.Unmatched},
	{Library: "MPICH", Reference: mpich + "commit/45bcce60db",
		What:  "The number of rounds was a quotient of logarithms, rounded down: for some exact powers one too few.",
		In:    catalogue.AllReduceRecursiveDoubling,
		Plant: edit.Set(0, func(x *gen.For) { x.N = spec.Log2(spec.Max(one, spec.Sub(spec.Size, one))) }),
		Check: verify.Uninitialized,
		Says:  "is missing"},
	{Library: "MPICH", Reference: mpich + "commit/ba1b4dd1e5",
		What: "The ranks of a recursive exchange combined what they had received in different orders, because the " +
			"operator commutes: floats differed in the last bits.",
		In:    catalogue.AllReduceRecursiveDoubling,
		Plant: edit.All(commutative, edit.Set(1, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Expr{} })),
		Check: verify.Order,
		Says:  "the tree of the ranks before it"},
	{Library: "MPICH", Reference: mpich + "commit/c09af09c2a",
		What:  "The in-place all-to-all took the length of a message from the wrong entry of the table of types.",
		Here:  "The operands of a reduction are as long as the chunks of their senders.",
		In:    catalogue.AllReduceTwoShot,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.Like = v("from") }), Check: verify.Length},
	{Library: "MPICH", Reference: mpich + "commit/c2668fbafa",
		What: "With two processes in a ring, left and right are the same neighbour, and its two messages were taken for " +
			"each other.",
		In:    bothWays,
		Plant: edit.Nth(1, func(x gen.Step) []gen.Node { return []gen.Node{gen.Step{x[0], x[1], x[3], x[2]}} }),
		Check: verify.Length},
	{Library: "MPICH", Reference: mpich + "commit/1b47bb5b0f",
		What:  "Temporary blocks were allocated at one distance from each other and addressed at another.",
		In:    catalogue.ReduceLinear,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.At = spec.Mul(two, v("from")) }), Check: verify.Program,
		Says: "out of range"},
	{Library: "MPICH", Reference: mpich + "commit/a40fee0cb4",
		What:  "The tree reduce presumed that a root has children, which a root alone has not.",
		In:    catalogue.ReduceBinomial,
		Plant: edit.Drop[gen.If](0), Check: verify.Uninitialized},

	{Library: "UCC", Reference: ucc + "pull/1145",
		What: "The k-nomial all-reduce reduced in another order on each rank.",
		In:   catalogue.AllReduceOneShot,
		Plant: edit.All(commutative, edit.Set(0, func(x *gen.Reduce) {
			x.From.At = spec.Up(spec.Add(v("i"), spec.Rank), spec.Size)
		})), Check: verify.Order, Says: "the tree of the ranks before it"},
	{Library: "UCC", Reference: ucc + "issues/585",
		What: "The average that is divided after the sum was wrong among 15 ranks with most radices but the default one, " +
			"and among 28.",
		Here: "A rank passes the result on to the one that it stands for before it has divided it.",
		In:   catalogue.AllReduceRecursiveDoubling,
		Plant: edit.All(edit.Nth(5, func(gen.Step) []gen.Node { return nil }), edit.Nth(5, func(x gen.Step) []gen.Node {
			return []gen.Node{x, gen.Step{gen.Finish{Data: x[0].(gen.Send).Data}}}
		})), Check: verify.Finish},
	{Library: "UCC", Reference: ucc + "pull/1101",
		What: "The all-gather that it uses itself looked at the wrong rank to find out whether it is in place.",
		Here: "Rank 0 does not copy its own block.",
		In:   catalogue.AllGatherDirect,
		Plant: edit.Nth(0, func(x gen.Copy) []gen.Node {
			return []gen.Node{gen.If{Cond: spec.Ne(spec.Rank, zero), Then: []gen.Node{x}}}
		}), Check: verify.Uninitialized},
	{Library: "UCC", Reference: ucc + "pull/153",
		What:  "The in-place all-gather had a rank's own block at the wrong offset of the receive buffer.",
		In:    catalogue.AllGatherRing,
		Plant: edit.Set(0, func(x *gen.Copy) { x.Into.At = zero }), Check: verify.Uninitialized},
	{Library: "UCC", Reference: ucc + "pull/604",
		What:  "The number of rounds of the recursive exchange was computed wrong for some sizes.",
		In:    catalogue.AllGatherRecursiveDoubling,
		Plant: edit.Set(0, func(x *gen.For) { x.N = spec.Max(zero, spec.Sub(x.N, one)) }), Check: verify.Uninitialized},
	{Library: "UCC", Reference: ucc + "pull/982",
		What:  "The k-nomial reduce-scatter used the description of its work buffers uninitialized.",
		In:    catalogue.ReduceScatterDirect,
		Plant: edit.Drop[gen.Copy](0), Check: verify.Uninitialized, Says: "old scratch"},

	{Library: "Gloo", Reference: "https://github.com/jax-ml/jax/issues/40830",
		What: "The halving-doubling reduce-scatter writes to the buffer that it still sends from.",
		In:   catalogue.ReduceScatterRing,
		Plant: edit.All(
			edit.Let("at", 0, func(x *gen.Let) { x.Is = spec.If(spec.Eq(v("s"), zero), v("c"), zero) }),
			edit.Let("slot", 0, func(x *gen.Let) { x.Is = zero }),
		), Check: verify.Race},

	{Library: "MLX", Reference: mlx + "pull/4443",
		What:  "In the all-gather of two directions both sent the lower half of a slice.",
		In:    bothWays,
		Plant: edit.Set(1, func(x *gen.Send) { x.Data.At = spec.Mul(two, v("e")) }), Check: verify.Length},
	{Library: "MLX", Reference: mlx + "pull/4193",
		What: "Where a wire's share was no multiple of the buffer, its last frame spilled into the share of the next wire.",
		In:   bothWays,
		Plant: edit.All(
			edit.Set(0, func(x *gen.Send) { x.Data.N = two }),
			edit.Set(0, func(x *gen.Recv) { x.Into.N = two }),
		), Check: verify.Race},
	{Library: "MLX", Reference: mlx + "pull/3654",
		What:  "Filling the pipeline posted more receives than there were messages, and a rank waited forever.",
		In:    catalogue.BarrierDirect,
		Plant: edit.Nth(0, func(x gen.Recv) []gen.Node { return []gen.Node{x, x} }), Check: verify.Unmatched,
		Says: "1 sent, 2 received"},
	{Library: "MLX", Reference: mlx + "pull/3451",
		What: "A staging buffer was filled anew as soon as it had been sent, while the rank's own reduction still needed it.",
		In:   catalogue.ReduceChain,
		Plant: edit.All(
			edit.Let("at", 0, func(x *gen.Let) { x.Is = spec.If(spec.Eq(spec.Rank, spec.Root), v("i"), zero) }),
			edit.Let("from", 0, func(x *gen.Let) {
				x.Is = spec.If(spec.Eq(v("place"), spec.Sub(spec.Size, one)), spec.Sub(v("i"), one), zero)
			}),
		), Check: verify.Race},

	{Library: "NCCL", Reference: "https://github.com/NVIDIA/nccl/commit/920dbe5b",
		What: "The protocol LL128 hung after 2^31 steps, when a counter of steps wraps around (release notes of 2.8.3).",
		Here: "The counters of a ring of slots are compared as if they never wrapped around.",
		Says: "and that cannot be",
		Source: Source{"fast/internal/shm/link.go", "if taken-r.taken > r.next-r.taken {", "if taken > r.next {",
			"./fast/internal/shm", "^TestCountersWrapAround$"}},
	{Library: "InfiniCCL", Reference: "https://github.com/InfiniTensor/InfiniCCL/pull/37",
		What: "The average of integers was the sum times 1/n, and 1/n as an integer is 0.",
		Says: "divided by 2: element 1 of 600 is 0000000000000000",
		Source: Source{"fast/internal/kernel/kernel_generic.go",
			"data []byte, size int) {\n\telems := view[T](data)\n\tfor i, x := range elems {\n" +
				"\t\telems[i] = x / T(size)\n\t}\n}\n\nfunc ratio[",
			"data []byte, size int) {\n\telems := view[T](data)\n\tfor i, x := range elems {\n" +
				"\t\telems[i] = x * T(1/float64(size))\n\t}\n}\n\nfunc ratio[", "./fast/internal/kernel", "^TestFinish$"}},
	{Library: "MPICH", Reference: mpich + "issues/6083",
		What: "The minimum of unsigned integers compared them as signed ones; Open MPI had the same (issue 10648).",
		Says: "TestKernels/generic/min/uint64",
		Source: Source{"fast/internal/kernel/table.go", "lift(smaller[uint64])", "lift(smaller[int64])",
			"./fast/internal/kernel", "^TestKernels$"}},
	{Library: "Open MPI", Reference: ompi + "pull/9606",
		What: "Offsets into the buffer of a reduce-scatter were int: beyond 2 GiB they were negative.",
		Says: "block 5 begins at -",
		Source: Source{"fast/internal/exec/buffer.go", "return block*b.block +", "return int(int32(block*b.block)) +",
			"./fast/internal/exec", "^TestFarOffsets$"}},
	{Library: "MLX", Reference: mlx + "pull/1906",
		What: "A read of no bytes, which is the end of a connection, counted as progress, and the ring kept " +
			"reading forever.",
		Says: "timed out",
		Source: Source{"fast/internal/tcp/input.go", "case err == nil && n > 0:", "case err == nil && n >= 0:",
			"./fast/internal/tcp", "^TestTruncation$"}},
}
