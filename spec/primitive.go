package spec

import (
	"fmt"
	"slices"
)

// Primitive says what a collective promises. It is closed data: everything that is derived from it (the checker, the
// argument checks, the property tests, the documentation) is a walk over this value.
//
// Every rank passes at most two buffers, In and Out, each a row of blocks. All blocks of a call hold count elements,
// unless its buffers have Counts.
type Primitive struct {
	Name string // as a Go function is called: "AllReduce"
	Doc  string // one paragraph

	Params []Param // besides the buffers
	In     Buffer  // what the rank contributes
	Out    Buffer  // what the rank receives
	Pre    []Clause
	Post   []Clause

	InPlace InPlace    // how Out may share memory with In
	Order   Order      // what is promised of the tree of a reduction
	Errors  []ArgError // which arguments are refused, before anything is sent

	Examples []Example // calls worked out by hand, which Validate compares with all of the above
}

// Param is a parameter of a primitive, in addition to its buffers.
type Param string

// The parameters.
const (
	ParamOp   Param = "op"   // the reduction operator
	ParamRoot Param = "root" // the root, or the sender
	ParamPeer Param = "peer" // the receiver
)

// Buffer is the shape of In or Out on one rank.
type Buffer struct {
	Blocks Expr // number of blocks; absent: no rank passes this buffer
	On     Expr // which ranks pass it, over rank, size, root and peer; absent: all of them
	// Counts says how long the blocks are, where they are uneven: block b of this buffer has n(Counts...) elements.
	// Nothing is known of n but that it is the same function in both buffers of all ranks of a call. They are one or two,
	// over rank, size, root, peer and block; none: all blocks of the call are equally long.
	Counts []Expr
}

// Length identifies how many elements a block has: it is what Counts come to, with 0 for those that there are not. Two
// blocks of a call are equally long, whatever its counts are, if and only if their Lengths are equal.
type Length [2]int

// InPlace says how Out may share memory with In: Out's block OutBlock is In's block InBlock, on the ranks that pass
// both. All other overlap is an argument error. Absent blocks: no sharing is allowed.
type InPlace struct {
	InBlock, OutBlock Expr // over rank, size, root and peer
}

// Clause says that, on every rank and for every block for which Where holds, that block of Buf holds Value.
// A block that no clause of Post mentions is unchanged: that is the frame.
type Clause struct {
	Buf   Buf
	Where Expr // over rank, size, root, peer and block; absent: everywhere
	Value Value
}

// Buf names a buffer of a rank.
type Buf string

// The buffers.
const (
	In      Buf = "in"
	Out     Buf = "out"
	Scratch Buf = "scratch" // an algorithm's own memory
)

// Value is what a place holds. Its expressions are over rank, size, root, peer and block.
type Value struct {
	Kind ValueKind
	// Of an Input: the rank and the block of that rank's In, as it was before the call.
	Rank, Block Expr
	// Of a Fold: the operands are block Block of every rank q, 0 <= q < size, for which Where holds (absent: all);
	// Where and Block may use the variable Q.
	Where Expr
}

// Q is the rank that a Fold or Entered ranges over.
var Q = Var("q")

// ValueKind is the kind of a Value.
type ValueKind uint8

// The kinds of value.
const (
	Undefined ValueKind = iota // anything
	Input                      // a block of some rank's input
	Fold                       // the reduction by the call's op of one block of each of several ranks, Finished
	Entered                    // no data: when a rank leaves, every rank for which Where holds has entered the call
	Unchanged                  // what the place held before the call; never written: it is what no clause mentions
)

// String returns the name of k.
func (k ValueKind) String() string {
	if int(k) >= len(valueKinds) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return valueKinds[k]
}

var valueKinds = [...]string{Undefined: "undefined", Input: "input", Fold: "fold", Entered: "entered",
	Unchanged: "unchanged"}

// Order is what a primitive promises, or an algorithm achieves, of the tree in which a Fold is computed. Each includes
// the ones before it.
type Order uint8

// The orders.
const (
	AnyTree     Order = iota // each operand exactly once; in rank order unless the op is commutative
	SameTree                 // and one tree for all ranks that hold the value: they get the same bits
	RankOrdered              // and the tree is the left fold in rank order: the bits depend on nothing but inputs and size
)

// String returns the name of o.
func (o Order) String() string {
	if int(o) >= len(orders) {
		return fmt.Sprintf("order(%d)", uint8(o))
	}
	return orders[o]
}

var orders = [...]string{AnyTree: "any tree", SameTree: "same tree on all ranks",
	RankOrdered: "left fold in rank order"}

// MarshalText returns the name of o: that is how JSON has it.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText does the reverse of MarshalText.
func (o *Order) UnmarshalText(name []byte) error {
	for i, s := range orders {
		if s == string(name) {
			*o = Order(i)
			return nil
		}
	}
	return fmt.Errorf("no order is called %q", name)
}

// ArgError is one reason to refuse a call, over rank, size, root and peer.
type ArgError struct {
	When   Expr
	Reason string
}

// Len returns the number of blocks that the rank of env passes, 0 if it passes none.
func (b Buffer) Len(env Env) (int, error) {
	if b.Blocks.IsAbsent() {
		return 0, nil
	}
	on, err := b.On.OrElse(Int(1)).Eval(env)
	if err != nil || on == 0 {
		return 0, err
	}
	return b.Blocks.Eval(env)
}

// Length returns the Length of a block of b on the rank of env.
func (b Buffer) Length(env Env, block int) (l Length, err error) {
	if len(b.Counts) == 0 {
		return l, nil
	}
	env = env.With(Block.Name, block)
	for i, e := range b.Counts {
		if l[i], err = e.Eval(env); err != nil {
			return l, err
		}
	}
	return l, nil
}

// IsUneven reports whether blocks of one call of p can differ in length.
func (p Primitive) IsUneven() bool { return p.Arity() > 0 }

// SameCounts reports whether every rank passes the lengths of all blocks of one of its buffers, which are uneven: then
// ranks compare them.
func (p Primitive) SameCounts() bool {
	return slices.ContainsFunc([]Buffer{p.In, p.Out}, func(b Buffer) bool {
		return len(b.Counts) == 1 && isVar(b.Counts[0], Block) && isVar(b.Blocks, Size) && b.On.IsAbsent()
	})
}

func isVar(e, v Expr) bool { return e.Kind == Variable && e.Name == v.Name }

// Arity returns how many arguments n has, the function that says how long blocks are; 0 where they are equally long.
func (p Primitive) Arity() int { return max(len(p.In.Counts), len(p.Out.Counts)) }

// What all primitives start from, and the argument errors that several share.
var (
	inputs    = []Clause{{Buf: In, Value: Value{Kind: Input, Rank: Rank, Block: Block}}}
	rootRange = ArgError{When: Or(Lt(Root, Int(0)), Ge(Root, Size)), Reason: "root is not a rank of the communicator"}
	peerRange = ArgError{When: Or(Lt(Peer, Int(0)), Ge(Peer, Size)), Reason: "peer is not a rank of the communicator"}
)

// Example is one call, worked out by hand. A specification is what everything else is proved against: nothing but
// examples guards the specification itself. There are as many ranks as In has elements.
//
// What a rank's buffer holds is a line of words, one for each block, with spaces between them; the line of a rank that
// does not pass the buffer is empty. In names the blocks of all ranks, no two by the same word. After the call a block
// holds one of these; or the reduction of several, a+b+c, by rank; or "-", which is what it held before the call; or
// "?", of which nothing is promised.
type Example struct {
	Root, Peer int

	In      []string // before the call, by rank; "?" is a block that Pre does not mention
	Out     []string // after it
	InAfter []string // what In holds after it; nil: what it held before
	// by rank, the block of In that may be the same memory as that block of Out, {-1, -1} for none; nil: it is not said
	InPlace [][2]int
	Entered [][]int // by rank, those that have entered the call before this one leaves it; nil: nobody has to
	Refused bool    // the call is refused, and all that In says is how many ranks there are
}
