package spec

// Reduce gives the root the reduction of all ranks' blocks.
var Reduce = register(Primitive{
	Name: "Reduce",
	Doc: "Reduce combines the blocks of all ranks elementwise with op and gives the root the result. Only the " +
		"root passes out; what the other ranks hold is not changed.",
	Params: []Param{ParamOp, ParamRoot},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Int(1), On: Eq(Rank, Root)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Fold, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
	Order:   AnyTree,
	Errors:  []ArgError{rootRange},
})
