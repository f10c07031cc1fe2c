package main

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

// museum are real bugs of other libraries, by library.
var museum = []exhibit{
	{peer: "Open MPI", fix: ompi + "commit/66b6b8d34e",
		wrong: "In the scatter and all-gather broadcast a rank without data posted a receive that was shorter than the message sent to it.",
		in:    catalogue.BroadcastScatterAllGather,
		plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Max(one, spec.Sub(x.Into.N, v("place"))) }), caught: verify.Length},
	{peer: "Open MPI", fix: ompi + "commit/b682b635c1",
		wrong: "The double ring barrier computed (rank-1) mod size, which is -1 on rank 0, and -1 happens to mean: from anybody.",
		in:    catalogue.BarrierDissemination,
		plant: edit.Let("from", 0, func(x *gen.Let) { x.Is = spec.Sub(spec.Rank, spec.Shl(one, v("k"))) }), caught: verify.Program, says: "-1"},
	{peer: "Open MPI", fix: ompi + "commit/82a3a5bdb5",
		wrong: "The all-gather half of Rabenseifner's all-reduce began at the wrong one of the steps whose windows it goes back through.",
		here:  "The second trip around the ring begins with the chunk that the first one began with.",
		in:    catalogue.AllReduceRing,
		plant: edit.Let("c", 1, func(x *gen.Let) { x.Is = spec.Down(spec.Sub(spec.Rank, v("s")), spec.Size) }), caught: verify.Uninitialized},
	{peer: "Open MPI", fix: ompi + "commit/006c4e9427",
		wrong: "The pipelined hierarchical all-reduce sent the last, shorter segment with the length of a full one.",
		in:    catalogue.AllReduceTwoShot,
		plant: edit.Set(1, func(x *gen.Send) { x.Data = gen.Chunk(spec.Out, zero) }), caught: verify.Length},
	{peer: "Open MPI", fix: ompi + "issues/9385",
		wrong: "The ring all-reduce of libnbc received into the result before it read its own operand, which in place is the same memory (repaired in ff03f43b58).",
		in:    catalogue.AllReduceRing, plant: receiveFirst, caught: verify.Postcondition, says: "in place"},
	{peer: "Open MPI", fix: ompi + "pull/2900",
		wrong: "The in-place all-gather took a rank's own block from where the blocks before it would end, and not from its displacement.",
		in:    catalogue.AllGatherRing,
		plant: edit.Set(0, func(x *gen.Send) {
			x.Data.At = spec.If(spec.Eq(v("s"), zero), spec.Down(spec.Sub(spec.Rank, one), spec.Size), x.Data.At)
		}), caught: verify.Race},
	{peer: "Open MPI", fix: ompi + "pull/14197",
		wrong: "In the hierarchical gather ranks of one node had different ideas of which node that is: one left its part out, and the leader waited for it for ever.",
		here:  "A rank takes the first rank of its half of the tree for the leader, also where that is the root's half.",
		in:    catalogue.ReduceBinomial,
		plant: edit.Let("leader", 0, func(x *gen.Let) { x.Is = v("lo") }), caught: verify.Unmatched},
	{peer: "Open MPI", fix: ompi + "pull/12198",
		wrong: "The all-to-all of uneven blocks left both directions of an exchange out where only one of them was empty (repaired in f242d0d860).",
		here:  "Rank 0 takes no part in the exchanges.",
		in:    catalogue.AllToAllPairwise,
		plant: edit.Set(0, func(x *gen.If) { x.Cond = spec.And(x.Cond, spec.Ne(spec.Rank, zero)) }), caught: verify.Unmatched},
	{peer: "Open MPI", fix: ompi + "pull/12258",
		wrong: "Every rank reduced its own operand first and then those of the others: each had a sum with other bits.",
		in:    catalogue.AllReduceOneShot,
		plant: edit.All(commutative, edit.Set(0, func(x *gen.Reduce) {
			x.From.At = spec.If(spec.Eq(v("i"), zero), spec.Rank, spec.If(spec.Le(v("i"), spec.Rank), spec.Sub(v("i"), one), v("i")))
		})), caught: verify.Order, says: "the tree of the ranks before it"},
	{peer: "Open MPI", fix: ompi + "issues/2879",
		wrong: "The chained reduce read the root's operand from where, in place, what it had received already was.",
		here:  "A reduce of two ranks whose root receives into the result before it has read its operand.",
		in:    ofTwoRanks, plant: inOneStep, caught: verify.Postcondition, says: "in place"},

	{peer: "MPICH", fix: mpich + "commit/456c1ed1b4",
		wrong: "In the scatter and all-gather broadcast, which rounds chunks up, the last ranks have no data, and the length of their receive was negative.",
		in:    catalogue.BroadcastScatterAllGather,
		plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Sub(spec.Sub(spec.Size, one), spec.Mul(two, v("place"))) }), caught: verify.Program,
		says: "out of range"},
	{peer: "MPICH", fix: mpich + "commit/af33aacb09",
		wrong: "The broadcast computed how much a rank has after the scatter from its rank, and not from its rank relative to the root.",
		in:    catalogue.BroadcastScatterAllGather,
		plant: edit.Let("mine", 0, func(x *gen.Let) {
			below := spec.Min(spec.BitAnd(spec.Rank, spec.Sub(zero, spec.Rank)), spec.Sub(spec.Size, spec.Rank))
			x.Is = spec.If(spec.Eq(spec.Rank, spec.Root), spec.Size, below)
		}), caught: verify.Unmatched},
	{peer: "MPICH", fix: mpich + "commit/45bcce60db",
		wrong: "The number of rounds was a quotient of logarithms, rounded down: for some exact powers one too few.",
		in:    catalogue.AllReduceRecursiveDoubling,
		plant: edit.Set(0, func(x *gen.For) { x.N = spec.Log2(spec.Max(one, spec.Sub(spec.Size, one))) }), caught: verify.Uninitialized,
		says: "is missing"},
	{peer: "MPICH", fix: mpich + "commit/ba1b4dd1e5",
		wrong: "The ranks of a recursive exchange combined what they had received in different orders, because the operator commutes: floats differed in the last bits.",
		in:    catalogue.AllReduceRecursiveDoubling,
		plant: edit.All(commutative, edit.Set(1, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Expr{} })), caught: verify.Order,
		says: "the tree of the ranks before it"},
	{peer: "MPICH", fix: mpich + "commit/c09af09c2a",
		wrong: "The in-place all-to-all took the length of a message from the wrong entry of the table of types.",
		here:  "The operands of a reduction are as long as the chunks of their senders.",
		in:    catalogue.AllReduceTwoShot,
		plant: edit.Set(0, func(x *gen.Recv) { x.Into.Like = v("from") }), caught: verify.Length},
	{peer: "MPICH", fix: mpich + "commit/c2668fbafa",
		wrong: "With two processes in a ring, left and right are the same neighbour, and its two messages were taken for each other.",
		in:    bothWays,
		plant: edit.Nth(1, func(x gen.Step) []gen.Node { return []gen.Node{gen.Step{x[0], x[1], x[3], x[2]}} }), caught: verify.Length},
	{peer: "MPICH", fix: mpich + "commit/1b47bb5b0f",
		wrong: "Temporary blocks were allocated at one distance from each other and addressed at another.",
		in:    catalogue.ReduceLinear,
		plant: edit.Set(0, func(x *gen.Recv) { x.Into.At = spec.Mul(two, v("from")) }), caught: verify.Program, says: "out of range"},
	{peer: "MPICH", fix: mpich + "commit/a40fee0cb4",
		wrong: "The tree reduce presumed that a root has children, which a root alone has not.",
		in:    catalogue.ReduceBinomial,
		plant: edit.Drop[gen.If](0), caught: verify.Uninitialized},

	{peer: "UCC", fix: ucc + "pull/1145",
		wrong: "The k-nomial all-reduce reduced in another order on each rank.",
		in:    catalogue.AllReduceOneShot,
		plant: edit.All(commutative, edit.Set(0, func(x *gen.Reduce) {
			x.From.At = spec.Up(spec.Add(v("i"), spec.Rank), spec.Size)
		})), caught: verify.Order, says: "the tree of the ranks before it"},
	{peer: "UCC", fix: ucc + "issues/585",
		wrong: "The average that is divided after the sum was wrong among 15 ranks with most radices but the default one, and among 28.",
		here:  "A rank passes the result on to the one that it stands for before it has divided it.",
		in:    catalogue.AllReduceRecursiveDoubling,
		plant: edit.All(edit.Nth(5, func(gen.Step) []gen.Node { return nil }), edit.Nth(5, func(x gen.Step) []gen.Node {
			return []gen.Node{x, gen.Step{gen.Finish{Data: x[0].(gen.Send).Data}}}
		})), caught: verify.Finish},
	{peer: "UCC", fix: ucc + "pull/1101",
		wrong: "The all-gather that it uses itself looked at the wrong rank to find out whether it is in place.",
		here:  "Rank 0 does not copy its own block.",
		in:    catalogue.AllGatherDirect,
		plant: edit.Nth(0, func(x gen.Copy) []gen.Node {
			return []gen.Node{gen.If{Cond: spec.Ne(spec.Rank, zero), Then: []gen.Node{x}}}
		}), caught: verify.Uninitialized},
	{peer: "UCC", fix: ucc + "pull/153",
		wrong: "The in-place all-gather had a rank's own block at the wrong offset of the receive buffer.",
		in:    catalogue.AllGatherRing,
		plant: edit.Set(0, func(x *gen.Copy) { x.Into.At = zero }), caught: verify.Uninitialized},
	{peer: "UCC", fix: ucc + "pull/604",
		wrong: "The number of rounds of the recursive exchange was computed wrong for some sizes.",
		in:    catalogue.AllGatherRecursiveDoubling,
		plant: edit.Set(0, func(x *gen.For) { x.N = spec.Max(zero, spec.Sub(x.N, one)) }), caught: verify.Uninitialized},
	{peer: "UCC", fix: ucc + "pull/982",
		wrong: "The k-nomial reduce-scatter used the description of its work buffers uninitialized.",
		in:    catalogue.ReduceScatterDirect,
		plant: edit.Drop[gen.Copy](0), caught: verify.Uninitialized, says: "old scratch"},

	{peer: "Gloo", fix: "https://github.com/jax-ml/jax/issues/40830",
		wrong: "The halving-doubling reduce-scatter writes to the buffer that it still sends from.",
		in:    catalogue.ReduceScatterRing,
		plant: edit.All(
			edit.Let("at", 0, func(x *gen.Let) { x.Is = spec.If(spec.Eq(v("s"), zero), v("c"), zero) }),
			edit.Let("slot", 0, func(x *gen.Let) { x.Is = zero }),
		), caught: verify.Race},

	{peer: "MLX", fix: mlx + "pull/4443",
		wrong: "In the all-gather of two directions both sent the lower half of a slice.",
		in:    bothWays,
		plant: edit.Set(1, func(x *gen.Send) { x.Data.At = spec.Mul(two, v("e")) }), caught: verify.Length},
	{peer: "MLX", fix: mlx + "pull/4193",
		wrong: "Where a wire's share was no multiple of the buffer, its last frame spilled into the share of the next wire.",
		in:    bothWays,
		plant: edit.All(
			edit.Set(0, func(x *gen.Send) { x.Data.N = two }),
			edit.Set(0, func(x *gen.Recv) { x.Into.N = two }),
		), caught: verify.Race},
	{peer: "MLX", fix: mlx + "pull/3654",
		wrong: "Filling the pipeline posted more receives than there were messages, and a rank waited for ever.",
		in:    catalogue.BarrierDirect,
		plant: edit.Nth(0, func(x gen.Recv) []gen.Node { return []gen.Node{x, x} }), caught: verify.Unmatched, says: "1 sent, 2 received"},
	{peer: "MLX", fix: mlx + "pull/3451",
		wrong: "A staging buffer was filled anew as soon as it had been sent, while the rank's own reduction still needed it.",
		in:    catalogue.ReduceChain,
		plant: edit.All(
			edit.Let("at", 0, func(x *gen.Let) { x.Is = spec.If(spec.Eq(spec.Rank, spec.Root), v("i"), zero) }),
			edit.Let("from", 0, func(x *gen.Let) {
				x.Is = spec.If(spec.Eq(v("place"), spec.Sub(spec.Size, one)), spec.Sub(v("i"), one), zero)
			}),
		), caught: verify.Race},

	{peer: "NCCL", fix: "https://github.com/NVIDIA/nccl/commit/920dbe5b",
		wrong: "The protocol LL128 hung after 2^31 steps, when a counter of steps wraps around (release notes of 2.8.3).",
		here:  "The counters of a ring of slots are compared as if they never wrapped around.",
		says:  "and that cannot be",
		source: planted{"fast/internal/shm/link.go", "if taken-r.taken > r.next-r.taken {", "if taken > r.next {",
			"./fast/internal/shm", "^TestCountersWrapAround$"}},
	{peer: "InfiniCCL", fix: "https://github.com/InfiniTensor/InfiniCCL/pull/37",
		wrong: "The average of integers was the sum times 1/n, and 1/n as an integer is 0.",
		says:  "divided by 2: element 1 of 600 is 0000000000000000",
		source: planted{"fast/internal/kernel/kernel_generic.go", "data []byte, size int) {\n\telems := view[T](data)\n\tfor i, x := range elems {\n" +
			"\t\telems[i] = x / T(size)\n\t}\n}\n\nfunc ratio[",
			"data []byte, size int) {\n\telems := view[T](data)\n\tfor i, x := range elems {\n" +
				"\t\telems[i] = x * T(1/float64(size))\n\t}\n}\n\nfunc ratio[", "./fast/internal/kernel", "^TestFinish$"}},
	{peer: "MPICH", fix: mpich + "issues/6083",
		wrong:  "The minimum of unsigned integers compared them as signed ones; Open MPI had the same (issue 10648).",
		says:   "TestKernels/generic/min/uint64",
		source: planted{"fast/internal/kernel/table.go", "lift(smaller[uint64])", "lift(smaller[int64])", "./fast/internal/kernel", "^TestKernels$"}},
	{peer: "Open MPI", fix: ompi + "pull/9606",
		wrong:  "Offsets into the buffer of a reduce-scatter were int: beyond 2 GiB they were negative.",
		says:   "block 5 begins at -",
		source: planted{"fast/internal/exec/buffer.go", "return block*b.block +", "return int(int32(block*b.block)) +", "./fast/internal/exec", "^TestFarOffsets$"}},
	{peer: "MLX", fix: mlx + "pull/1906",
		wrong:  "A read of no bytes, which is the end of a connection, counted as progress, and the ring went on reading for ever.",
		says:   "timed out",
		source: planted{"fast/internal/tcp/input.go", "case err == nil && n > 0:", "case err == nil && n >= 0:", "./fast/internal/tcp", "^TestTruncation$"}},
}
