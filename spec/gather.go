package spec

// Gather gives the root the blocks of all ranks.
var Gather = register(Primitive{
	Name: "Gather",
	Doc: "Gather gives the root the blocks of all ranks: block r of out is rank r's input. Only the root " +
		"passes out; in place, its own input is where its block of out is.",
	Params: []Param{ParamRoot},
	In:     Buffer{Blocks: Int(1)},
	Out:    Buffer{Blocks: Size, On: Eq(Rank, Root)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Block, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Root},
	Errors:  []ArgError{rootRange},
})
