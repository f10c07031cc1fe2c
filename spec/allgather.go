package spec

// AllGather gives every rank the blocks of all ranks.
var AllGather = register(Primitive{
	Name: "AllGather",
	Doc: "AllGather gives every rank the blocks of all ranks: block r of out is rank r's input, on all ranks " +
		"alike. In place, each rank's input is where its block of out is.",
	In:   Buffer{Blocks: Int(1)},
	Out:  Buffer{Blocks: Size},
	Pre:  inputs,
	Post: []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Block, Block: Int(0)}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Rank},
})
