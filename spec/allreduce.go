package spec

// AllReduce gives every rank the reduction of all ranks' blocks.
var AllReduce = register(Primitive{
	Name: "AllReduce",
	Doc: "AllReduce combines the blocks of all ranks elementwise with op and gives every rank the result, the " +
		"same bits on all ranks.",
	Params: []Param{ParamOp},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Int(1)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Fold, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
	Order:   SameTree,
})
