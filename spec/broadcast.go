package spec

// Broadcast gives every rank the root's block.
var Broadcast = register(Primitive{
	Name:   "Broadcast",
	Doc:    "Broadcast gives every rank, the root included, the block of the root. Only the root passes in.",
	Params: []Param{ParamRoot},
	In:     Buffer{Blocks: Int(1), On: Eq(Rank, Root)},
	Out:    Buffer{Blocks: Int(1)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Root, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
	Errors:  []ArgError{rootRange},
})
