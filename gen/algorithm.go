package gen

import (
	"strings"

	"github.com/collgen/collgen/spec"
)

// Algorithm is one program that every rank runs to carry out a primitive. It is closed data, like the primitive.
type Algorithm struct {
	Name      string // "ring"; with the primitive's name it is the algorithm's: allreduce/ring
	Primitive spec.Primitive
	Doc       string // one sentence: what it does, and when it is the right choice
	Source    string // the paper, page or code that it is taken from
	Requires  Requires
	Param     Param // a number that it leaves open; the zero Param: none

	Chunks  spec.Expr // how many chunks each block is cut into, over size, depth and local; absent: 1
	Scratch spec.Expr // how many slots of scratch this rank needs, over [Variables]; absent: 0
	Body    []Node

	Cost  Cost
	Hints Hints // for a proof for every number of ranks
}

// FullName returns the name under which people and tools know the algorithm: "allreduce/ring".
func (a *Algorithm) FullName() string { return strings.ToLower(a.Primitive.Name) + "/" + a.Name }

// Requires says which calls the algorithm can serve.
type Requires struct {
	Size        spec.Expr // holds for the sizes that are served, over size and local; absent: every size
	Commutative bool      // the op has to be commutative
	OutOfPlace  bool      // In and Out have to be distinct
}

// Cost is the length of the critical path of two ranks and more, over size, depth and local: Alpha messages, Beta
// chunks on the wire, Gamma chunks reduced, each where the others cost nothing. Measure defines it, by playing
// schedules in the model of Time. A chunk is a block over Chunks. Absent parts are not stated.
type Cost struct {
	Alpha, Beta, Gamma spec.Expr
}

// Node is a node of an algorithm's body: For, If, Let, LetBuf, Fold or Step; inside a Step also an action: Send, Recv,
// RecvReduce, Copy, Reduce or Finish.
type Node interface{ node() }

// For runs Body with Var = 0, 1, …, N-1.
type For struct {
	Var  string
	N    spec.Expr
	Body []Node
}

// If runs Then where Cond holds, and otherwise Else.
type If struct {
	Cond       spec.Expr
	Then, Else []Node
}

// Let gives a value a name for the rest of the enclosing body.
type Let struct {
	Name string
	Is   spec.Expr
}

// LetBuf gives a buffer a name for the rest of the enclosing body: Then where Cond holds, and otherwise Else.
type LetBuf struct {
	Name       spec.Buf
	Cond       spec.Expr
	Then, Else spec.Buf
}

// Fold gives names to numbers that are worked out turn by turn, for the rest of the enclosing body: to what they are
// after N turns, in which Var is 0, 1, …, N-1. In each turn Body, which has Lets and Folds alone, gives further names.
// Then, if When holds, all numbers change at once.
//
// It is for what no expression says, such as the result of a search. There is no proof by induction for every number
// of ranks of an algorithm that has one.
type Fold struct {
	Var   string
	N     spec.Expr
	State []State
	Body  []Node
	When  spec.Expr // over the names of Body, too; absent: in every turn
}

// State is a number that a Fold works out.
type State struct {
	Name  string
	First spec.Expr // before the first turn; it may be a conditional, as in a Let
	Next  spec.Expr // after a turn, over all numbers as they were before it, Var, and the names of Body
}

// Step is what a rank does at once. Its sends and receives are in flight together; when all of them are complete, its
// local actions (Copy, Reduce, Finish), which are listed after them, are done in the order of the list. Then the rank
// goes on to its next step: there is no barrier between ranks.
//
// A send may wait until its receive is in flight: ranks that send to each other and then, in another step, receive wait
// forever, and are refused.
//
// Nothing in flight may overwrite what the same step sends, except a receive marked AfterSend, and no two receives of a
// step may write to the same place.
type Step []Node

// Send sends Data to the rank To. Absent data is an empty message, which still has to be received: a signal.
type Send struct {
	To   spec.Expr
	Data Region
}

// Recv receives into Into from the rank From. Messages between two ranks arrive in the order in which they were sent.
type Recv struct {
	From spec.Expr
	Into Region
	// AfterSend lets Into be a region that this step sends to the same rank: each part of it is overwritten only after
	// that part was sent. The step sends that rank one message, which is as long. It is a permission: where the two are
	// different memory, because the call is out of place, it has no effect.
	AfterSend bool
	// Lend says that what is in Into is read by nothing but the Reduces of this step: then a transport may leave the
	// data where they arrived. Nothing is ever found in Into, which is scratch, by later steps.
	Lend bool
}

// RecvReduce receives an operand from the rank From and sets Into to With ⊕ received, or to received ⊕ With where
// ReceivedFirst holds (absent: never). With may be the same region as Into.
type RecvReduce struct {
	From          spec.Expr
	Into, With    Region
	ReceivedFirst spec.Expr
	AfterSend     bool // as in Recv
}

// Copy copies From to Into; nothing is done where both are the same memory.
type Copy struct {
	Into, From Region
	Lend       bool // as in Recv: the Reduces may read From instead, which nothing but themselves overwrites
}

// Reduce sets Into to From[Var:=0] ⊕ From[Var:=1] ⊕ … ⊕ From[Var:=N-1], from left to right, N >= 1.
type Reduce struct {
	Into Region
	Var  string
	N    spec.Expr
	From Region
}

// Finish completes a reduction in place: what the op does once to the sum of all operands (Avg's division by size).
type Finish struct{ Data Region }

func (For) node()        {}
func (If) node()         {}
func (Let) node()        {}
func (LetBuf) node()     {}
func (Fold) node()       {}
func (Step) node()       {}
func (Send) node()       {}
func (Recv) node()       {}
func (RecvReduce) node() {}
func (Copy) node()       {}
func (Reduce) node()     {}
func (Finish) node()     {}

// Region is N consecutive chunks of a buffer, from chunk At on. In and Out count chunks through all blocks: block b's
// first chunk has index b × Chunks. Chunks of a block differ in length by at most one element, longer ones first.
//
// Scratch counts slots, each as long as the longest chunk. Like is the chunk whose length the data in a slot has; it is
// needed when Chunks is not 1, and then a region of scratch is a single slot.
//
// Where blocks are uneven, Chunks is 1 and a region is a single block, because blocks need not lie side by side. A slot
// of scratch is then as long as the longest block of which its rank knows the length, and Counts says as long as which
// one the data in a slot is, in the way of [spec.Buffer].
//
// The zero Region is no data.
type Region struct {
	Buf  spec.Buf
	At   spec.Expr
	N    spec.Expr // absent: 1
	Like spec.Expr // of Scratch only

	Counts []spec.Expr // of Scratch only, where blocks are uneven: the arguments of n
}

// Chunk is chunk at of buf.
func Chunk(buf spec.Buf, at spec.Expr) Region { return Region{Buf: buf, At: at} }

// Span returns the n chunks of buf from chunk at on.
func Span(buf spec.Buf, at, n spec.Expr) Region { return Region{Buf: buf, At: at, N: n} }

// Slot is slot at of a buffer that may be scratch, holding data as long as chunk like.
func Slot(buf spec.Buf, at, like spec.Expr) Region { return Region{Buf: buf, At: at, Like: like} }

// BlockSlot is slot at of a buffer that may be scratch, holding data as long as the uneven block that counts identify.
func BlockSlot(buf spec.Buf, at spec.Expr, counts ...spec.Expr) Region {
	return Region{Buf: buf, At: at, Counts: counts}
}

// Eval returns the cost of a call, in messages and chunks. One rank alone costs nothing.
func (c Cost) Eval(p Params) (alpha, beta, gamma int, err error) {
	if p.Size == 1 {
		return 0, 0, 0, nil
	}
	env := append(p.ofSize(), spec.Binding{Name: spec.Depth.Name, Value: p.Depth})
	for _, x := range []struct {
		is *int
		e  spec.Expr
	}{{&alpha, c.Alpha}, {&beta, c.Beta}, {&gamma, c.Gamma}} {
		if *x.is, err = x.e.Eval(env); err != nil {
			return 0, 0, 0, err
		}
	}
	return alpha, beta, gamma, nil
}

// Param is a number that an algorithm leaves open, such as the radix of a tree. All its expressions may use it. Each of
// the values makes an algorithm of its own: see [Algorithm.Members].
type Param struct {
	Name   string // of the variable; empty: there is none
	Values []int  // that it may have, 1 or more each
	Value  int    // the one that it has in a member; 0: none is chosen
}
