package spec

// Gather gives the root the blocks of all ranks.
var Gather = register(Primitive{
	Name:   "Gather",
	Doc:    "Gather gives the root the blocks of all ranks, in rank order.",
	Params: []Param{ParamRoot},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Size, On: Eq(Rank, Root)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Block, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Root},
	Errors:  []ArgError{rootRange},
})
