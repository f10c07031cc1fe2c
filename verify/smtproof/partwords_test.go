package smtproof_test

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// The words that the wrong algorithms of partplants_test.go are written in.

var (
	n                = spec.Int
	rank, size       = spec.Rank, spec.Size
	in, out, scratch = spec.In, spec.Out, spec.Scratch
	other            = spec.Sub(one, rank) // of two ranks
	next             = spec.Up(off(rank), size)
	prev             = spec.Down(under(rank), size)
	isSecond         = spec.Eq(rank, one)
	k                = v("k")
	before, after    = spec.Eq(k, zero), spec.Lt(zero, k) // the first turn of a loop over k, and after it
)

// void returns e, beside something that has no value on rank 0.
func void(e spec.Expr) spec.Expr { return spec.Add(e, spec.Mul(zero, spec.Log2(rank))) }

func cell(b spec.Buf, at int) gen.Region     { return gen.Chunk(b, n(at)) }
func cells(b spec.Buf, at, m int) gen.Region { return gen.Span(b, n(at), n(m)) }

func step(nodes ...gen.Node) gen.Node                  { return gen.Step(nodes) }
func where(cond spec.Expr, nodes ...gen.Node) gen.Node { return gen.If{Cond: cond, Then: nodes} }
func first(m int, nodes ...gen.Node) gen.Node          { return where(spec.Eq(rank, n(m)), nodes...) }
func copied(into, from gen.Region) gen.Node            { return gen.Copy{Into: into, From: from} }
func sent(to spec.Expr, data gen.Region) gen.Node      { return gen.Send{To: to, Data: data} }
func received(from spec.Expr, into gen.Region) gen.Node {
	return gen.Recv{From: from, Into: into}
}

// reduced reduces m operands, all of them from, into slot 5.
func reduced(m spec.Expr, from gen.Region) gen.Node {
	return gen.Reduce{Into: cell(scratch, 5), Var: "i", N: m, From: from}
}

// summed returns what one of two ranks receives and reduces with its own, in rank order.
func summed(into, with gen.Region) gen.Node {
	return gen.RecvReduce{From: other, Into: into, With: with, ReceivedFirst: spec.Lt(other, rank)}
}

// whole has two ranks make the sum of both inputs.
func whole(into gen.Region) gen.Node {
	return step(sent(other, cell(in, 0)), summed(into, cell(in, 0)))
}

// wholeWith has two ranks reduce each other's input with what they have there.
func wholeWith(with gen.Region) gen.Node {
	return step(sent(other, cell(in, 0)), summed(cell(scratch, 4), with))
}

var (
	// mine copies the input into slot 0.
	mine = copied(cell(scratch, 0), cell(in, 0))
	// swapped has each of two ranks get the other one's input, in place instead of its own.
	swapped = step(sent(other, cell(in, 0)), gen.Recv{From: other, Into: cell(out, 0), AfterSend: true})
	// finished is the all-reduce of one rank.
	finished = step(copied(cell(out, 0), cell(in, 0)), gen.Finish{Data: cell(out, 0)})
)

// turns has a rank do something so many times in one step.
func turns(m int, x gen.Node) gen.Node { return gen.For{Var: "t", N: n(m), Body: []gen.Node{x}} }

// turnCell is the cell that belongs to turn t of a loop over all other ranks.
var turnCell = spec.Down(spec.Sub(under(rank), v("t")), size)

// everyOther has every rank send data to each other one, and receive from it: to and from say whom.
func everyOther(data, into gen.Region) []gen.Node {
	return []gen.Node{gen.For{Var: "t", N: under(size), Body: []gen.Node{
		gen.Let{Name: "to", Is: spec.Up(off(spec.Add(rank, v("t"))), size)}, gen.Let{Name: "from", Is: turnCell},
		sent(v("to"), data), received(v("from"), into),
	}}}
}

// allInputs has every rank get the inputs of all, each in the slot of its rank.
var allInputs = step(append(everyOther(cell(in, 0), gen.Chunk(scratch, v("from"))),
	copied(gen.Chunk(scratch, rank), cell(in, 0)))...)

// pairOf reduces two slots, from one on, into another.
func pairOf(into, from int) gen.Node {
	return gen.Reduce{Into: cell(scratch, into), Var: "i", N: n(2), From: gen.Chunk(scratch, spec.Add(v("i"), n(from)))}
}

// pairLast reduces slots 0, 1 and 4.
var pairLast = gen.Reduce{Into: cell(out, 0), Var: "i", N: n(3),
	From: gen.Chunk(scratch, spec.Add(v("i"), spec.Shl(spec.Shr(v("i"), one), one)))}

// among returns a for so many ranks alone, out of place and with six slots, which do other things after it.
func among(ranks int, a gen.Algorithm, after ...gen.Node) gen.Algorithm {
	a.Requires.Size, a.Requires.OutOfPlace = spec.Eq(size, n(ranks)), true
	a.Scratch, a.Hints = n(6), gen.Hints{}
	a.Body = append(slices.Clip(a.Body), after...)
	return a
}

// only returns a with another body.
func only(ranks int, a gen.Algorithm, body ...gen.Node) gen.Algorithm {
	a.Body = nil
	return among(ranks, a, body...)
}

// wholeOfTwo is an all-reduce of two ranks with two chunks.
var wholeOfTwo = only(2, catalogue.AllReduceOneShot,
	step(sent(other, cell(in, 0)), summed(cell(out, 0), cell(in, 0))),
	step(sent(other, cell(in, 1)), summed(cell(out, 1), cell(in, 1))),
	step(gen.Finish{Data: cells(out, 0, 2)}))

// looped returns an all-gather of so many ranks, and then a loop of two turns with other things before it.
func looped(ranks int, before []gen.Node, body ...gen.Node) gen.Algorithm {
	return among(ranks, catalogue.AllGatherDirect, append(before, gen.For{Var: "k", N: n(2), Body: body})...)
}

// claims returns the invariant of that loop: of slot 0, besides what the all-gather has made.
func claims(list ...gen.Claim) gen.Hints {
	gathered := gen.Claim{Buf: out, Where: one, Chunk: zero, First: gen.Cell, Count: one}
	return gen.Hints{Loops: []gen.Invariant{{Claims: append(list, gathered)}}}
}

// slot0 claims that slot 0 holds that.
func slot0(where, chunk, first, count spec.Expr, done bool) gen.Claim {
	return gen.Claim{Buf: scratch, Where: spec.And(spec.Eq(gen.Cell, zero), where), Chunk: chunk, First: first,
		Count: count, Done: done}
}

// finishes returns the hints of a loop that one rank goes through, which has finished its result there.
func finishes(where spec.Expr) gen.Hints {
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{Buf: out, Where: where, Chunk: zero, First: zero,
		Count: one, Done: true}}}}}
}

// What algorithms have otherwise.

func commutative(a gen.Algorithm) gen.Algorithm {
	a.Requires.Commutative = true
	return a
}

func inPlace(a gen.Algorithm) gen.Algorithm {
	a.Requires.OutOfPlace = false
	return a
}

func chunks(m spec.Expr, a gen.Algorithm) gen.Algorithm {
	a.Chunks = m
	return a
}

func slots(m spec.Expr, a gen.Algorithm) gen.Algorithm {
	a.Scratch = m
	return a
}

// promising has the first postcondition of a speak of some blocks alone.
func promising(where spec.Expr, a gen.Algorithm) gen.Algorithm {
	a.Primitive.Post = slices.Clone(a.Primitive.Post)
	a.Primitive.Post[0].Where = where
	return a
}
