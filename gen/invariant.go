package gen

import "github.com/collgen/collgen/spec"

// Hints are what a proof for every number of ranks needs in addition to the algorithm: see package induct. They change
// nothing of what ranks do. A wrong hint can only make the proof fail. An algorithm without loops needs none.
type Hints struct {
	Loops []Invariant // of the loops with steps in them, in source order
	// Together are pairs of actions that stand in sibling nodes, one after the other, of which every rank carries out
	// at most one: their steps belong to one moment.
	Together [][2]int
	// Turns are of the loops inside steps, in source order; those that are missing are over all ranks.
	Turns []Turns
}

// Turns says of a loop inside a step whose messages go to the other members of a group of N ranks, nearest first, and
// come from them: Member is the number in the group that a rank has, over [spec.Rank], and Of the member from which the
// cell Cell is received. Absent: the rank, the cell and size.
//
// Where messages go to other ranks, Turn says in which turn: over [spec.Rank], which sends, [spec.Peer], which
// receives, and what is in scope at the step. Member is absent then.
type Turns struct{ Member, Of, N, Turn spec.Expr }

// Invariant is what holds whenever a rank comes to the head of a loop: before each turn, and after the last one, when
// the loop's variable is the number of turns. Expressions may use what is in scope there, and the names that the loop's
// body begins with.
type Invariant struct {
	Claims []Claim // of places that no claim is made of, nothing is known; In is as it was if no claim mentions it
	// the shift of this rank's turns against those of others, over what is in scope before the loop; absent: 0
	Skew spec.Expr
}

// Claim says that the cells of Buf for which Where holds contain the reduction of chunk Chunk of the inputs of Count
// ranks from First on, modulo size; of one rank, that is its input. A cell is a chunk of In or Out, or a slot of the
// scratch. The first claim that holds for a cell counts.
type Claim struct {
	Buf   spec.Buf
	Where spec.Expr // over Cell as well; absent: everywhere
	// Chunk counts through all blocks. First is 0 where Count is size.
	Chunk, First, Count spec.Expr
	Done                bool // whether the reduction is finished
}

// Cell is the cell that a claim mentions. Of the buffer [Heard] it is a rank.
var Cell = spec.Var("cell")

// Heard is a buffer that no rank has: a claim about it says that this rank has come to know, by messages, that the rank
// Cell has entered the call.
const Heard spec.Buf = "heard"
