package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The two-level algorithms with a root: the ranks with the root's seat talk to each other, and to the ranks of their
// hosts.

// BroadcastTwoLevel sends the block to one rank of each host, which passes it on.
var BroadcastTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.Broadcast,
	Doc: "A binomial tree of the ranks with the root's seat, each of which then sends to all of its host: every " +
		"other host gets the block once.",
	Source:   karonis,
	Requires: evenHosts,
	Body: fromRootsHost(
		onSeat(rootSeat, toHosts.Run(&BroadcastBinomial, parts{in: {Buf: in}, out: {Buf: out}}, false)...),
		within("spread").Run(&BroadcastLinear, parts{in: {Buf: out}, out: {Buf: out}}, false),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: out, Where: and(not(eq(rank, root)), toHosts.Expr(downward(root).leads())), Chunk: zero, First: root,
				Count: one},
		}}},
		Turns: []gen.Turns{withinTurns(gen.Cell)},
	},
	Cost: gen.Cost{Alpha: overHostsThenSeats, Beta: overHostsThenSeats, Gamma: zero},
})

// ReduceTwoLevel reduces on each host, to the rank with the root's seat, and then among these.
var ReduceTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.Reduce,
	Doc: "The rank with the root's seat reduces what its host has, in rank order; a binomial tree of these ranks " +
		"adds that up: every other host sends one block.",
	Source:   karonis,
	Requires: evenHosts,
	Scratch:  add(local, one),
	Body: fromRootsHost(
		within("collect").Run(&ReduceLinear, parts{in: {Buf: in}, out: hostSum, scratch: {Buf: scratch}}, true),
		onSeat(rootSeat, fromHosts.Run(&ReduceBinomial, parts{in: hostSum, out: {Buf: out}, scratch: {Buf: scratch}},
			false)...),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: "joinSum", Where: and(eq(gen.Cell, zero), hasSum), Chunk: zero, First: joined.first, Count: joined.count},
			{Buf: scratch, Where: eq(gen.Cell, hostSum.At), Chunk: zero, First: mul(host, local), Count: local},
			untouched(ne(rank, root)),
		}}},
		Turns: []gen.Turns{withinTurns(gen.Cell)},
	},
	Cost: gen.Cost{Alpha: overHostsThenSeats, Beta: overHostsThenSeats, Gamma: overHostsThenSeats},
})

var (
	toHosts, fromHosts = across("pass"), across("join")

	overHostsThenSeats = add(ceilLog2(ofHosts), sub(local, one))

	hostSum = gen.Part{Buf: scratch, At: local} // of the ranks with the root's seat
)

// joined is the half of the tree of hosts that this rank leads, if it has the root's seat.
var (
	joined = ranksOf(fromHosts, upward(root).first, upward(root).count)
	hasSum = and(eq(seat, rootSeat), fromHosts.Expr(upward(root).hasSum()))
)
