package spec

// Exscan gives every rank but the first the reduction of the blocks of the ranks before it.
var Exscan = register(Primitive{
	Name: "Exscan",
	Doc: "Exscan combines, on every rank but the first, the blocks of the ranks before it elementwise with op, in rank " +
		"order. Rank 0 passes no out. Avg divides by the number of all ranks.",
	Params: []Param{ParamOp},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Int(1), On: Lt(Int(0), Rank)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Fold, Block: Int(0), Where: Lt(Q, Rank)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
	Order:   AnyTree,
})
