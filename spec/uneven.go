package spec

// The primitives whose blocks are uneven, as MPI's V forms. n[r] is how long the block of rank r is, and n[q][r] that
// of the block from rank q to rank r. A rank knows how long the blocks of its own buffers are, and has to know of no
// others.

var (
	ofRank  = []Expr{Rank}
	ofBlock = []Expr{Block}
)

// AllGatherV is AllGather of uneven blocks: all ranks know how long each is.
var AllGatherV = register(uneven(AllGather, ofRank, ofBlock,
	"AllGatherV gives every rank the blocks of all ranks, which may differ in "+
		"length: block r of out is rank r's input, on all ranks alike. In place, each rank's input is where its "+
		"block of out is."))

// GatherV is Gather of uneven blocks: the root knows how long each is, another rank only of its own.
var GatherV = register(uneven(Gather, ofRank, ofBlock, "GatherV collects the blocks of all ranks on the root, which "+
	"may differ in "+
	"length: block r of out is rank r's input. Only the root receives. In place, the root's input is where its "+
	"block of out is."))

// ScatterV is Scatter of uneven blocks: the root knows how long each is, another rank only of its own.
var ScatterV = register(uneven(Scatter, ofBlock, ofRank, "ScatterV gives rank r block r of the root's input, whose "+
	"blocks may differ in "+
	"length. Only the root passes in. In place, the root's out is where its block of in is."))

// ReduceScatterV is ReduceScatter of uneven blocks: all ranks know how long each is.
var ReduceScatterV = register(uneven(ReduceScatter, ofBlock, ofRank,
	"ReduceScatterV combines the inputs of all ranks elementwise with op, "+
		"and gives rank r block r of the result. Blocks may differ in length. In place, a rank's out is where its "+
		"block of in is."))

// AllToAllV is AllToAll of uneven blocks: a rank knows how long those are that it sends and receives, and no others. It
// cannot be in place, because a block is not as long as the one that comes for it.
var AllToAllV = register(func() Primitive {
	p := uneven(AllToAll, []Expr{Rank, Block}, []Expr{Block, Rank},
		"AllToAllV transposes the matrix of blocks, which may differ in "+
			"length: block r of rank q's input becomes block q of out on rank r.")
	p.InPlace = InPlace{}
	return p
}())

// uneven returns a primitive that promises of uneven blocks what even promises of even ones.
func uneven(even Primitive, in, out []Expr, doc string) Primitive {
	even.Name, even.Doc = even.Name+"V", doc
	even.In.Counts, even.Out.Counts = in, out
	return even
}
