package spec

// ReduceScatter reduces as AllReduce does and gives each rank one block of the result.
var ReduceScatter = register(Primitive{
	Name: "ReduceScatter",
	Doc: "ReduceScatter combines the buffers of all ranks elementwise with op and gives rank r block r of the " +
		"result. In place, the result replaces block r of rank r's input, and the other blocks of it are not " +
		"changed.",
	Params: []Param{ParamOp},
	In:     Buffer{Blocks: Size},
	Out:    Buffer{Blocks: Int(1)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Fold, Block: Rank}}},

	InPlace: InPlace{InBlock: Rank, OutBlock: Int(0)},
	Order:   AnyTree,
})
