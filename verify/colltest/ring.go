package colltest

import "github.com/collgen/collgen/spec"

// Primitives returns those of package spec, and exchanges among the neighbours of a ring.
func Primitives() []spec.Primitive {
	return append(spec.Primitives(), NeighborAllToAll, NeighborAllGather)
}

// NeighborAllToAll and NeighborAllGather exchange blocks on a ring, the grid of one dimension that is periodic. Block 0
// is that of the rank before, and block 1 that of the rank after. They are MPI_Neighbor_alltoall and
// MPI_Neighbor_allgather of a communicator that MPI_Cart_create has made.
var (
	NeighborAllToAll = spec.Primitive{
		Name: "NeighborAllToAll",
		Doc: "NeighborAllToAll sends block 0 to the rank before this one on a ring, and block 1 to the rank after it. " +
			"Block 0 of out is from the rank before, and block 1 from the rank after.",
		In:   spec.Buffer{Blocks: spec.Int(2)},
		Out:  spec.Buffer{Blocks: spec.Int(2)},
		Pre:  given,
		Post: from(neighbor, spec.Sub(spec.Int(1), spec.Block)),
	}
	NeighborAllGather = spec.Primitive{
		Name: "NeighborAllGather",
		Doc: "NeighborAllGather gives each rank the block of the rank before it on a ring, and that of the rank after it: " +
			"these are blocks 0 and 1 of out.",
		In:   spec.Buffer{Blocks: spec.Int(1)},
		Out:  spec.Buffer{Blocks: spec.Int(2)},
		Pre:  given,
		Post: from(neighbor, spec.Int(0)),
	}

	given = []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}}

	// neighbor is the rank that block 0 or 1 is from.
	neighbor = spec.Mod(spec.Add(spec.Add(spec.Rank, spec.Mul(spec.Int(2), spec.Block)), spec.Sub(spec.Size, spec.Int(1))),
		spec.Size)
)

// from says that each block of out is a block of a rank's in.
func from(rank, block spec.Expr) []spec.Clause {
	return []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: rank, Block: block}}}
}
