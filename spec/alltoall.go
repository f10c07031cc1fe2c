package spec

// AllToAll gives rank r block r of every rank.
var AllToAll = register(Primitive{
	Name: "AllToAll",
	Doc: "AllToAll transposes the matrix of blocks: block r of rank q's input becomes block q of out on rank " +
		"r. In place, what is received replaces what was sent.",
	In:   Buffer{Blocks: Size},
	Out:  Buffer{Blocks: Size},
	Pre:  inputs,
	Post: []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Block, Block: Rank}}},

	InPlace: InPlace{InBlock: Int(0), OutBlock: Int(0)},
})
