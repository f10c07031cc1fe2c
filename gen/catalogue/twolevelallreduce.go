package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllReduceTwoLevel reduces on each host, then among hosts, so that only sums leave a host.
var AllReduceTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.AllReduce,
	Doc: "A reduce-scatter on each host, an all-reduce of every part among hosts, and an all-gather on each host: " +
		"the fewest bytes between hosts.",
	Source:   jia,
	Requires: evenHosts,
	Chunks:   size,
	Scratch:  most(local, ofHosts),
	Body: byHosts(
		[]gen.Node{loop("s", hosts, within("scatter").Run(&ReduceScatterDirect, parts{
			in: {Buf: in, At: v("s"), Stride: hosts}, out: {Buf: out, At: nextSum}, scratch: {Buf: scratch, Like: nextSum},
		}, true))},
		across("meet").Run(&AllReduceTwoShot, parts{in: sumsOfSeat, out: sumsOfSeat, scratch: {Buf: scratch}}, false),
		within("gather").Run(&AllGatherDirect,
			parts{in: {Buf: out, At: sumsOfSeat.At, N: hosts}, out: {Buf: out, N: hosts}}, false),
	),
	Hints: allReduceTwoLevelHints,
	Cost: gen.Cost{
		Alpha: add(mul(add(ofHosts, one), sub(local, one)), mul(two, sub(ofHosts, one))),
		Beta:  add(mul(two, mul(ofHosts, sub(local, one))), mul(two, sub(ofHosts, one))),
		Gamma: sub(size, one),
	},
})

// AllReduceLeaders has one rank of each host reduce, exchange and pass on.
var AllReduceLeaders = register(gen.Algorithm{
	Name:      "leaders",
	Primitive: spec.AllReduce,
	Doc: "The first rank of each host reduces what its host has, in rank order; these ranks double what they have, " +
		"and pass the result on: the fewest messages, for short ones.",
	Source:   karonis,
	Requires: evenHosts,
	Scratch:  local,
	Body: byHosts(
		under("collect").Run(&ReduceLinear, parts{in: {Buf: in}, out: {Buf: out}, scratch: {Buf: scratch}}, true),
		onSeat(zero, leaders("meet").Run(&AllReduceRecursiveDoubling, parts{in: {Buf: out}, out: {Buf: out}}, false)...),
		under("spread").Run(&BroadcastLinear, parts{in: {Buf: out}, out: {Buf: out}}, false),
	),
	Hints: gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{sumOfMet, noInput}}},
		Turns: []gen.Turns{withinTurns(gen.Cell), withinTurns(gen.Cell)},
	},
	Cost: gen.Cost{
		Alpha: add(mul(two, sub(local, one)), acrossHosts(AllReduceRecursiveDoubling.Cost.Alpha)),
		Beta:  add(mul(two, sub(local, one)), acrossHosts(AllReduceRecursiveDoubling.Cost.Beta)),
		Gamma: add(sub(local, one), acrossHosts(AllReduceRecursiveDoubling.Cost.Gamma)),
	},
})

var (
	sumsOfSeat = gen.Part{Buf: out, At: mul(seat, hosts)} // the chunks that this rank sums up, one for each host
	nextSum    = add(mul(seat, hosts), v("s"))

	allReduceTwoLevelHints = gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: out, Where: summed, Chunk: gen.Cell, First: mul(host, local), Count: local},
			{Buf: in, Where: not(summed), Chunk: gen.Cell, First: rank, Count: one},
		}}},
		Turns: []gen.Turns{withinTurns(gen.Cell), acrossTurns(gen.Cell), acrossTurns(spec.Mod(gen.Cell, hosts)),
			withinTurns(spec.Div(gen.Cell, hosts))},
	}
	summed = and(le(sumsOfSeat.At, gen.Cell), lt(gen.Cell, nextSum))
)

// sumOfMet says that a leader has the sum of the hosts whose leaders it has met.
var sumOfMet = func() gen.Claim {
	first, count := doublingGroup()
	met := ranksOf(across("meet"), first, count)
	return gen.Claim{Buf: out, Chunk: zero, First: met.first, Count: met.count}
}()
