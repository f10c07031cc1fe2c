package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The two-level algorithms: parts that the ranks of each host carry out, and parts that the ranks with one seat do, one
// on each host. Hosts have equally many ranks.
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

// The host and the seat of the root, by names in the body of an algorithm that has one.
var rootHost, rootSeat = v("rootHost"), v("rootSeat")

// fromRootsHost returns a body of these parts of an algorithm with a root.
func fromRootsHost(parts ...[]gen.Node) []gen.Node {
	return byHosts([]gen.Node{let("rootHost", spec.Div(root, local)), let("rootSeat", spec.Mod(root, local))},
		slices.Concat(parts...))
}

// within is the group of the ranks of this rank's host, for a part of that name.
func within(name string) gen.Group {
	return gen.Group{Name: name, First: mul(host, local), Stride: one, N: local, Member: seat, Root: rootSeat}
}

// under is the group of the ranks of this rank's host with the first of them, which leads the host, as the root.
func under(name string) gen.Group {
	g := within(name)
	g.Root = zero
	return g
}

// across is the group of the ranks with this rank's seat, for a part of that name.
func across(name string) gen.Group {
	return gen.Group{Name: name, First: seat, Stride: local, N: hosts, Member: host, Root: rootHost}
}

// leaders is the group of the first ranks of all hosts, for a part of that name.
func leaders(name string) gen.Group {
	g := across(name)
	g.First = zero
	return g
}

// acrossHosts returns what e, over the number of ranks, is over the number of hosts, outside of a body.
func acrossHosts(e expr) expr { return gen.Group{N: ofHosts}.Expr(e) }

// ranksOf returns the ranks of count hosts from the host first on, which the expressions of an algorithm say that g
// carries out.
func ranksOf(g gen.Group, first, count expr) (of struct{ first, count expr }) {
	of.first = mul(g.Expr(first), local)
	of.count = sub(mul(g.Expr(add(first, count)), local), of.first)
	return of
}

// withinTurns and acrossTurns are the turns of a loop over the ranks of such a group.
func withinTurns(of expr) gen.Turns {
	return gen.Turns{Member: spec.Mod(rank, local), Of: of, N: local}
}

func acrossTurns(of expr) gen.Turns {
	return gen.Turns{Member: spec.Div(rank, local), Of: of, N: hosts}
}

type parts = map[spec.Buf]gen.Part

// onSeat returns what the ranks with a seat alone do.
func onSeat(place expr, part ...gen.Node) []gen.Node {
	return []gen.Node{gen.If{Cond: eq(seat, place), Then: part}}
}
