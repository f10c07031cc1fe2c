package spec

// Scatter gives each rank one block of the root's.
var Scatter = register(Primitive{
	Name: "Scatter",
	Doc: "Scatter gives rank r block r of the root's input. Only the root passes in; in place, its own block " +
		"of out is where its block of in is.",
	Params: []Param{ParamRoot},
	In:     Buffer{Blocks: Size, On: Eq(Rank, Root)},
	Out:    Buffer{Blocks: Int(1)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Root, Block: Rank}}},

	InPlace: InPlace{InBlock: Root, OutBlock: Int(0)},
	Errors:  []ArgError{rootRange},
})
