package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// BroadcastCirculant has every rank send one piece and receive one in each step.
//
// Steps repeat as phases of ⌈log2 size⌉ rounds. In round k, ranks send to the rank after them at distance size / 2^left,
// rounded up, where left is the number of rounds from k to the end of the phase. Ranks are counted from the root, as
// places. In each phase a place receives one piece that is new there, which the root has begun to send in this phase,
// and others of the phase before. Which ones these are, counted from the first of the phase, is its schedule. It sends
// in each round what the schedule of the other place has.
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
		Else: slices.Concat([]gen.Node{let("place", down(sub(rank, root), size)), let("rounds", ceilLog2(size))},
			scheduleOf("received", place, last),
			[]gen.Node{
				sentSchedule,
				letBuf("data", eq(rank, root), in, out),
				let("begin", spec.Mod(sub(rounds, spec.Mod(sub(pieces, one), rounds)), rounds)),
				loop("s", circulantSteps(rounds), circulantStep),
				gen.If{Cond: eq(rank, root),
					Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, pieces), From: gen.Span(in, zero, pieces)}}}},
			}),
	}},
	Cost: gen.Cost{Alpha: circulantSteps(ceilLog2(size)), Beta: circulantSteps(ceilLog2(size)), Gamma: zero},
})

var rounds = v("rounds")

// circulantSteps is the fewest steps in which all pieces come from one rank to all others, one in each step.
func circulantSteps(rounds expr) expr { return add(sub(pieces, one), rounds) }

// circulantStep is step s. The last phase ends with the last step, so that the first one may begin with a later round.
var circulantStep = []gen.Node{
	let("k", spec.Mod(add(turn, v("begin")), rounds)),
	let("distance", halved(sub(rounds, v("k")))),
	let("to", up(add(rank, v("distance")), size)),
	let("from", down(sub(rank, v("distance")), size)),
	let("passed", scheduled("sent")),
	let("come", scheduled("received")),
	gen.Step{
		gen.If{Cond: and(ne(v("to"), root), le(zero, v("passed"))),
			Then: []gen.Node{gen.Send{To: v("to"), Data: gen.Chunk("data", least(v("passed"), sub(pieces, one)))}}},
		gen.If{Cond: and(ne(rank, root), le(zero, v("come"))),
			Then: []gen.Node{gen.Recv{From: v("from"), Into: gen.Chunk(out, least(v("come"), sub(pieces, one)))}}},
	},
}

// halved is size / 2^times, rounded up: the distance of the round that has so many left in its phase, itself included.
func halved(times expr) expr { return add(shr(last, times), one) }

// A schedule is a number of four bits for each round: the piece, counted from the first of the phase before.

// inRound is what belongs into round k of a schedule.
func inRound(piece, k expr) expr { return shl(piece, mul(spec.Int(4), k)) }

// scheduled is the piece of step s in a schedule. It may be negative, before the first, or beyond the last: that comes
// for what is left.
func scheduled(name string) expr {
	piece := bitAnd(shr(v(name), mul(spec.Int(4), v("k"))), spec.Int(15))
	return sub(sub(add(piece, turn), v("k")), rounds)
}

// sentSchedule gives a name to what this rank sends: of each round, that of the rank that receives it.
var sentSchedule = gen.Fold{
	Var: "k", N: rounds,
	Body: append([]gen.Node{let("left", sub(rounds, v("k"))), let("after", up(add(place, halved(v("left"))), size))},
		scheduleOf("theirs", v("after"), halved(sub(v("left"), one)))...),
	State: []gen.State{{Name: "sent", First: zero,
		Next: spec.BitOr(v("sent"), bitAnd(v("theirs"), inRound(spec.Int(15), v("k"))))}},
}

// scheduleOf gives a name to what a place receives, by a search backwards from it, round after round. The first place
// counts there that is as far as the distance of the round, whose own round has not been found yet, and that was itself
// reached from as far as the distance of the next round. No round needs more places than the distance of the next.
func scheduleOf(name string, place, places expr) []gen.Node {
	x := func(what string) string { return name + what }
	left, at, far := v(x("Left")), v(x("At")), add(v(x("Turn")), one)
	return append(roundOf(x("Own"), place), gen.Fold{
		Var: x("Turn"), N: places,
		Body: append(roundOf(x("At"), sub(add(size, place), far)),
			// The place's own round brings the new piece.
			let(x("Piece"), cond(eq(at, zero), sub(mul(two, rounds), v(x("Own"))), sub(rounds, at)))),
		When: and(le(halved(left), far), not(bitAnd(shr(v(x("Found")), at), one)),
			le(halved(most(sub(left, one), zero)), add(far, halved(at)))),
		State: []gen.State{
			{Name: name, First: zero, Next: spec.BitOr(v(name), inRound(v(x("Piece")), sub(rounds, left)))},
			{Name: x("Found"), First: shl(one, v(x("Own"))), Next: spec.BitOr(v(x("Found")), shl(one, at))},
			{Name: x("Left"), First: rounds, Next: most(sub(left, one), zero)},
		},
	})
}

// roundOf gives a name to the round in which a new piece comes to a place: as how many are left then, or 0 for the root,
// also where it is counted as size. The place is the sum of different distances, of which that of the round is the last.
func roundOf(name string, place expr) []gen.Node {
	rest, step := v(name+"Rest"), v(name+"Step")
	return []gen.Node{gen.Fold{
		Var: name + "Turn", N: add(rounds, one),
		Body: []gen.Node{let(name+"Step", halved(v(name+"Turn")))},
		When: le(step, rest),
		State: []gen.State{
			{Name: name + "Rest", First: place, Next: sub(rest, step)},
			{Name: name, First: zero, Next: v(name + "Turn")},
		},
	}}
}
