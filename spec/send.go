package spec

// Send moves one block from the rank root to the rank peer.
var Send = register(Primitive{
	Name: "Send",
	Doc: "Send gives the rank peer the block of the rank root. It is the call of these two ranks alone, which " +
		"are different; the other ranks take no part.",
	Params: []Param{ParamRoot, ParamPeer},
	In:     Buffer{Blocks: Int(1), On: Eq(Rank, Root)},
	Out:    Buffer{Blocks: Int(1), On: Eq(Rank, Peer)},
	Pre:    inputs,
	Post:   []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Root, Block: Int(0)}}},

	Errors: []ArgError{rootRange, peerRange, {When: Eq(Root, Peer), Reason: "a rank cannot send to itself"}},
})
