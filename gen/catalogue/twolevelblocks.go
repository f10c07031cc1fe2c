package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The two-level algorithms for blocks of each rank: between hosts travel the blocks of all their ranks at once.

// AllGatherTwoLevel has one rank of each host get the blocks of all others.
var AllGatherTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.AllGather,
	Doc: "The first rank of each host gathers its blocks, sends them to the first ranks of all others in a single step, " +
		"and passes on what these send: every host gets each block once.",
	Source:   traffSplit,
	Requires: evenHosts,
	Body: byHosts(
		under("collect").Run(&GatherLinear, parts{in: {Buf: in}, out: blocksOfHost}, false),
		onSeat(zero, across("meet").Run(&AllGatherDirect,
			parts{in: {Buf: out, At: blocksOfHost.At, N: local}, out: {Buf: out, N: local}}, false)...),
		under("spread").Run(&BroadcastLinear, parts{in: {Buf: out, N: size}, out: {Buf: out, N: size}}, false),
	),
	Hints: gen.Hints{Turns: []gen.Turns{withinTurns(spec.Mod(gen.Cell, local)), acrossTurns(div(gen.Cell, local)),
		withinTurns(gen.Cell)}},
	Cost: gen.Cost{
		Alpha: add(mul(two, sub(local, one)), sub(ofHosts, one)),
		Beta:  add(mul(sub(local, one), add(size, one)), sub(size, local)),
		Gamma: zero,
	},
})

var blocksOfHost = gen.Part{Buf: out, At: mul(host, local)}

// ReduceScatterTwoLevel reduces on each host what each other host gets from it.
var ReduceScatterTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.ReduceScatter,
	Doc: "A reduce-scatter on each host for the blocks of every host in turn, and one among the ranks with one seat, in " +
		"rank order: only sums leave a host.",
	Source:   jia,
	Requires: evenHosts,
	Scratch:  add(ofHosts, most(local, ofHosts)),
	Body: byHosts(
		[]gen.Node{loop("s", hosts, within("scatter").Run(&ReduceScatterDirect,
			parts{in: {Buf: in, At: mul(v("s"), local)}, out: {Buf: scratch, At: v("s")}, scratch: behindSums}, true))},
		across("meet").Run(&ReduceScatterDirect, parts{in: {Buf: scratch}, out: {Buf: out}, scratch: behindSums}, false),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: scratch, Where: lt(gen.Cell, v("s")), Chunk: add(mul(gen.Cell, local), seat), First: mul(host, local),
				Count: local},
		}}},
		Turns: []gen.Turns{withinTurns(sub(gen.Cell, hosts)), acrossTurns(sub(gen.Cell, hosts))},
	},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// behindSums is scratch after the sums of this rank's host, of which it has one for each host.
var behindSums = gen.Part{Buf: scratch, At: hosts}

// AllToAllTwoLevel exchanges among the ranks of each host what then goes to another host as one message.
var AllToAllTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.AllToAll,
	Doc: "The ranks of a host exchange what goes to each seat of every host, in turn; the ranks with one seat then " +
		"exchange what their hosts send each other: as many bytes between hosts, in the fewest messages.",
	Source:   traffSplit,
	Requires: evenHosts,
	Scratch:  size,
	Body: byHosts(
		[]gen.Node{loop("s", hosts, within("swap").Run(&allToAllApart,
			parts{in: {Buf: in, At: mul(v("s"), local)}, out: {Buf: scratch, At: mul(v("s"), local)}}, false))},
		across("meet").Run(&allToAllApart, parts{in: {Buf: scratch, N: local}, out: {Buf: out, N: local}}, false),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{{
			Buf: scratch, Where: lt(gen.Cell, mul(v("s"), local)), Chunk: add(mul(div(gen.Cell, local), local), seat),
			First: add(mul(host, local), spec.Mod(gen.Cell, local)), Count: one,
		}}}},
		Turns: []gen.Turns{withinTurns(sub(gen.Cell, mul(v("s"), local))), acrossTurns(div(gen.Cell, local))},
	},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: add(sub(size, ofHosts), sub(size, local)), Gamma: zero},
})

// allToAllApart is the direct algorithm where what is received does not take the place of what is sent.
var allToAllApart = gen.Algorithm{Body: directAllToAll(false)}

// BarrierTwoLevel has the first ranks of the hosts meet.
var BarrierTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.Barrier,
	Doc:       "The ranks of each host signal its first one; the first ranks of all hosts meet, and signal the others.",
	Source:    karonis,
	Requires:  evenHosts,
	Body: byHosts(
		under("enter").Run(&gen.Algorithm{Body: rootAlone(
			gen.Step{others(gen.Recv{From: v("from")})}, gen.Step{gen.Send{To: root}},
		)}, nil, false),
		onSeat(zero, across("meet").Run(&BarrierDissemination, nil, false)...),
		under("leave").Run(&gen.Algorithm{Body: rootAlone(
			gen.Step{others(gen.Send{To: v("to")})}, gen.Step{gen.Recv{From: root}},
		)}, nil, false),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: gen.Heard, Where: lt(down(sub(host, div(gen.Cell, local)), hosts), shl(one, v("meetK")))},
		}}},
		Turns: []gen.Turns{withinTurns(spec.Mod(gen.Cell, local)), withinTurns(gen.Cell)},
	},
	Cost: gen.Cost{Alpha: add(mul(two, sub(local, one)), ceilLog2(ofHosts)), Beta: zero, Gamma: zero},
})
