package spec

// AllToAll gives rank r block r of every rank.
var AllToAll = register(Primitive{
	Name: "AllToAll",
	Doc:  "AllToAll gives rank r block r of every rank, in rank order: the transpose of the matrix of blocks.",
	In:   Buffer{Blocks: Size},
	Out:  Buffer{Blocks: Size},
	Pre:  inputs,
	Post: []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Block, Block: Rank}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
})
