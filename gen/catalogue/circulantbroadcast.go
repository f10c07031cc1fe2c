package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// BroadcastCirculant has every rank send one piece and receive one in each step.
//
// Ranks are counted from the root, as places. A phase is ⌈log2 size⌉ steps, its rounds. In round k, which has left-1
// others behind it in its phase, a rank sends to the one size / 2^left, rounded up, after it. Each place has a
// schedule, the same in each phase: which piece comes in which round. In one round the piece is new, from among those
// that the root sends in this phase, and in the others they are from the phase before. A rank sends what the schedule
// of the other place has.
//
// Tables select it over RDMA from 12 ranks on, by prediction: for blocks of 256 KiB among 17 ranks and more it takes
// less than two thirds of the time of a binomial tree. Measured with 4 and 8 ranks on two cores it was not faster than
// others, because a core carries the messages of a step one after the other.
var BroadcastCirculant = register(gen.Algorithm{
	Name:      "circulant",
	Primitive: spec.Broadcast,
	Doc: "Every rank sends a piece and receives another one in each step, and the last piece has come everywhere after " +
		"the fewest steps that so many pieces can take: for long messages. Each size up to 64 is proved, and nothing by " +
		"induction.",
	Source: "Träff: Optimal broadcast schedules in logarithmic time with applications to broadcast, all-broadcast, " +
		"reduction and all-reduction, arXiv:2407.18004, 2024",
	Param:    gen.Param{Name: "pieces", Values: []int{8, 32}},
	Requires: gen.Requires{Size: le(size, spec.Int(64))}, // proved for these alone
	Chunks:   pieces,
	Body: []gen.Node{gen.If{Cond: eq(size, one),
		Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, pieces), From: gen.Span(in, zero, pieces)}}},
		Else: slices.Concat(circulantSchedules, []gen.Node{
			letBuf("data", eq(rank, root), in, out),
			let("begin", spec.Mod(sub(rounds, spec.Mod(sub(pieces, one), rounds)), rounds)),
			loop("s", circulantSteps(rounds), circulantStep),
			gen.If{Cond: eq(rank, root),
				Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, pieces), From: gen.Span(in, zero, pieces)}}}},
		}),
	}},
	Cost: gen.Cost{Alpha: circulantSteps(ceilLog2(size)), Beta: circulantSteps(ceilLog2(size)), Gamma: zero},
})

var (
	rounds  = v("rounds")
	inPhase = v("k")
	ahead   = v("ahead")
)

// circulantSteps is the fewest steps in which all pieces come from one rank to all others, one in each step.
func circulantSteps(rounds expr) expr { return add(sub(pieces, one), rounds) }

// halved is size / 2^times, rounded up.
func halved(times expr) expr { return add(shr(last, times), one) }

// circulantStep is step s. The last phase ends with the last step, so that the first one may begin with a later round.
var circulantStep = []gen.Node{
	let("k", spec.Mod(add(turn, v("begin")), rounds)),
	let("ahead", halved(sub(rounds, inPhase))),
	let("to", up(add(rank, ahead), size)),
	let("from", down(sub(rank, ahead), size)),
	let("passed", scheduled("sent")),
	let("come", scheduled("received")),
	gen.Step{
		gen.If{Cond: and(ne(v("to"), root), le(zero, v("passed"))),
			Then: []gen.Node{gen.Send{To: v("to"), Data: gen.Chunk("data", least(v("passed"), sub(pieces, one)))}}},
		gen.If{Cond: and(ne(rank, root), le(zero, v("come"))),
			Then: []gen.Node{gen.Recv{From: v("from"), Into: gen.Chunk(out, least(v("come"), sub(pieces, one)))}}},
	},
}

// Of a schedule, each round has four bits: its piece, counted from the first one of the phase before.

// inRound is what belongs into a round of a schedule.
func inRound(piece, round expr) expr { return shl(piece, mul(spec.Int(4), round)) }

// scheduled is the piece of step s in a schedule. Where it is negative, there is none yet, and one beyond the last is
// the last.
func scheduled(name string) expr {
	piece := bitAnd(shr(v(name), mul(spec.Int(4), inPhase)), spec.Int(15))
	return sub(sub(add(piece, turn), inPhase), rounds)
}

// circulantSchedules gives names to the schedules of what this rank sends and receives. After the rounds comes one more
// turn, in which the distance is size, so that the other place is the rank's own.
var circulantSchedules = []gen.Node{
	let("place", down(sub(rank, root), size)),
	let("rounds", ceilLog2(size)),
	gen.Fold{
		Var: "k", N: add(rounds, one),
		State: []gen.State{
			{Name: "sent", First: zero, Next: spec.BitOr(v("sent"), bitAnd(v("schedule"), inRound(spec.Int(15), inPhase)))},
			{Name: "received", First: zero, Next: v("schedule")},
		},
		Body: []gen.Node{
			let("ahead", halved(sub(rounds, inPhase))),
			let("other", up(add(place, ahead), size)),
			roundOf("own", v("other")),
			let("further", halved(most(sub(sub(rounds, inPhase), one), zero))),
			scheduleOf(v("other"), v("own"), v("further")),
		},
	},
}

// scheduleOf gives a name to the schedule of a place, by a search backwards from it, for round after round. Of a round
// it is for the first place that is as far as the distance of this round, whose new piece comes in a round that was not
// found before, from as far as the distance of the next round. That piece comes here in this round.
func scheduleOf(place, own, places expr) gen.Node {
	left, at := v("left"), v("at")
	return gen.Fold{
		Var: "b", N: places,
		State: []gen.State{
			{Name: "schedule", First: zero, Next: spec.BitOr(v("schedule"), inRound(v("piece"), sub(rounds, left)))},
			{Name: "found", First: shl(one, own), Next: spec.BitOr(v("found"), shl(one, at))},
			{Name: "left", First: rounds, Next: most(sub(left, one), zero)},
		},
		When: and(le(halved(left), v("behind")), not(bitAnd(shr(v("found"), at), one)),
			le(halved(most(sub(left, one), zero)), v("reach"))),
		Body: []gen.Node{
			let("behind", add(v("b"), one)),
			roundOf("at", sub(add(size, place), v("behind"))),
			let("reach", add(v("behind"), halved(at))),
			// Where the search comes to the root, the piece is the new one of this place.
			let("piece", cond(eq(at, zero), sub(mul(two, rounds), own), sub(rounds, at))),
		},
	}
}

// roundOf gives a name to the round in which a new piece comes to a place, by how many are left then. A place is the
// sum of different distances, from the largest one on; the round is that of the last. It is 0 for the root, which is at
// size, too.
func roundOf(name string, place expr) gen.Node {
	rest, step := v(name+"Rest"), v(name+"Step")
	return gen.Fold{
		Var: name + "Left", N: add(rounds, one),
		State: []gen.State{
			{Name: name + "Rest", First: place, Next: sub(rest, step)},
			{Name: name, First: zero, Next: v(name + "Left")},
		},
		When: le(step, rest),
		Body: []gen.Node{let(name+"Step", halved(v(name+"Left")))},
	}
}
