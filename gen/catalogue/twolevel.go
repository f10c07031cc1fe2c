package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The two-level algorithms: parts that the ranks of each host carry out, and parts that the ranks with one seat do, one on
// each host. Hosts have equally many ranks.
var (
	host, seat, hosts = v("host"), v("seat"), v("hosts")

	ofHosts   = spec.Div(size, local) // the same, outside of a body
	evenHosts = gen.Requires{Size: eq(spec.Mod(size, local), zero)}
)

// byHosts returns a body of these parts.
func byHosts(parts ...[]gen.Node) []gen.Node {
	return append([]gen.Node{
		let("host", spec.Div(rank, local)),
		let("seat", spec.Mod(rank, local)),
		let("hosts", ofHosts),
	}, slices.Concat(parts...)...)
}

// within is the group of the ranks of this rank's host, for a part of that name.
func within(name string) gen.Group {
	return gen.Group{Name: name, First: mul(host, local), Stride: one, N: local, Member: seat}
}

// across is the group of the ranks with this rank's seat, for a part of that name.
func across(name string) gen.Group {
	return gen.Group{Name: name, First: seat, Stride: local, N: hosts, Member: host}
}

// withinTurns and acrossTurns are the turns of a loop over the ranks of such a group.
func withinTurns(of expr) gen.Turns {
	return gen.Turns{Member: spec.Mod(rank, local), Of: of, N: local}
}

func acrossTurns(of expr) gen.Turns {
	return gen.Turns{Member: spec.Div(rank, local), Of: of, N: hosts}
}

type parts = map[spec.Buf]gen.Part

// AllReduceTwoLevel reduces on each host, then among hosts, so that only sums leave a host.
var AllReduceTwoLevel = register(gen.Algorithm{
	Name:      "two-level",
	Primitive: spec.AllReduce,
	Doc: "A reduce-scatter on each host, an all-reduce of every part among hosts, and an all-gather on each host: the fewest " +
		"bytes between hosts.",
	Source: "Jia et al.: Highly Scalable Deep Learning Training System with Mixed-Precision, arXiv:1807.11205, 2018, " +
		"section 3.4, hierarchical all-reduce",
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
