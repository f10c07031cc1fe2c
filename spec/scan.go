package spec

// Scan gives every rank the reduction of the blocks of the ranks up to itself.
var Scan = register(Primitive{
	Name: "Scan",
	Doc: "Scan combines, on every rank, the blocks of the ranks before it and its own elementwise with op, in rank " +
		"order. Avg divides by the number of all ranks.",
	Params: []Param{ParamOp},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Int(1)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Fold, Block: Int(0), Where: Le(Q, Rank)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
	Order:   AnyTree,
})
