package every_test

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// wrong is an algorithm with one mistake, which one part of one kind of obligation refuses, and nothing else.
type wrong struct {
	label string
	a     gen.Algorithm
	hints gen.Hints
}

// The words that they are written in. Each has room for six slots, and runs out of place unless it is said otherwise.
var (
	n                = spec.Int
	rank, size       = spec.Rank, spec.Size
	in, out, scratch = spec.In, spec.Out, spec.Scratch
	other            = spec.Sub(one, rank) // of two ranks
	next             = spec.Up(off(rank), size)
	prev             = spec.Down(under(rank), size)
	isSecond         = spec.Eq(rank, one)
	k                = v("k")
)

func cell(b spec.Buf, at int) gen.Region     { return gen.Chunk(b, n(at)) }
func cells(b spec.Buf, at, m int) gen.Region { return gen.Span(b, n(at), n(m)) }
func step(nodes ...gen.Node) gen.Node        { return gen.Step(nodes) }
func copied(into, from gen.Region) gen.Node  { return gen.Copy{Into: into, From: from} }
func sent(to spec.Expr, r gen.Region) gen.Node {
	return gen.Send{To: to, Data: r}
}
func received(from spec.Expr, r gen.Region) gen.Node { return gen.Recv{From: from, Into: r} }

func where(cond spec.Expr, nodes ...gen.Node) gen.Node { return gen.If{Cond: cond, Then: nodes} }

// void is e, beside something that has no value on rank 0.
func void(e spec.Expr) spec.Expr { return spec.Add(e, spec.Mul(zero, spec.Log2(rank))) }

// among is a for so many ranks alone, which do other things after it.
func among(ranks int, a gen.Algorithm, after ...gen.Node) gen.Algorithm {
	a.Requires.Size, a.Requires.OutOfPlace = spec.Eq(size, n(ranks)), true
	a.Scratch, a.Hints = n(6), gen.Hints{}
	a.Body = append(slices.Clip(a.Body), after...)
	return a
}

// only does nothing but these.
func only(ranks int, of gen.Algorithm, body ...gen.Node) gen.Algorithm {
	of.Body = nil
	return among(ranks, of, body...)
}

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

// looped is an all-gather of so many ranks with a loop of two turns behind it.
func looped(ranks int, body ...gen.Node) gen.Algorithm {
	return among(ranks, gen.AllGatherDirect, gen.For{Var: "k", N: n(2), Body: body})
}

// claims are the invariant of that loop: of slot 0, besides what the all-gather has made.
func claims(list ...gen.Claim) gen.Hints {
	gathered := gen.Claim{Buf: out, Where: one, Chunk: zero, First: gen.Cell, Count: one}
	return gen.Hints{Loops: []gen.Invariant{{Claims: append(list, gathered)}}}
}

// slot0 claims that slot 0 holds that.
func slot0(where, chunk, first, count spec.Expr, done bool) gen.Claim {
	return gen.Claim{Buf: scratch, Where: spec.And(spec.Eq(gen.Cell, zero), where), Chunk: chunk, First: first, Count: count, Done: done}
}

var (
	before, after = spec.Eq(k, zero), spec.Lt(zero, k)
	mine          = copied(cell(scratch, 0), cell(in, 0))
	// exchanged has two ranks reduce what they send each other, with what is in slot 0.
	whole = func(into gen.Region) gen.Node {
		return step(sent(other, cell(in, 0)), gen.RecvReduce{From: other, Into: into, With: cell(in, 0), ReceivedFirst: spec.Lt(other, rank)})
	}
)

func first(m int, nodes ...gen.Node) gen.Node { return where(spec.Eq(rank, n(m)), nodes...) }

var noHints gen.Hints

// refusedByOnePart are algorithms each of which one part alone refuses.
var refusedByOnePart = []wrong{
	{"chunks: the number of chunks has a value", chunks(void(one), only(1, gen.AllReduceOneShot, step(copied(cell(out, 0), cell(in, 0)), gen.Finish{Data: cell(out, 0)}))), noHints},
	{"chunks: the number of slots has a value", slots(void(n(6)), among(1, gen.AllGatherDirect)), noHints},
	{"chunks: a chunk", chunks(zero, only(1, gen.AllReduceOneShot)), noHints},
	{"chunks: no negative number of slots", slots(n(-1), among(1, gen.AllGatherDirect)), noHints},
	{"defined: value", among(2, gen.AllGatherDirect, gen.Let{Name: "x", Is: spec.Log2(rank)}), noHints},
	{"turns: turns", only(1, gen.AllGatherDirect, gen.For{Var: "k", N: n(-1), Body: []gen.Node{step(mine)}}, step(copied(cell(out, 0), cell(in, 0)))),
		gen.Hints{Loops: make([]gen.Invariant, 1)}},

	{"bounds: the peer has a value", among(2, gen.AllGatherDirect, step(sent(void(other), cell(in, 0)), received(other, cell(scratch, 0)))), noHints},
	{"bounds: the peer is not negative", among(1, gen.AllGatherDirect, step(first(0, sent(n(-1), cell(in, 0))), first(-1, received(zero, cell(scratch, 0))))), noHints},
	{"bounds: the peer is less than the size", among(1, gen.AllGatherDirect, step(first(0, sent(one, cell(in, 0))), first(1, received(zero, cell(scratch, 0))))), noHints},
	{"bounds: the peer is another rank", among(1, gen.AllGatherDirect, step(sent(zero, cell(in, 0)), received(zero, cell(scratch, 0)))), noHints},
	{"bounds: the order has a value", among(2, gen.AllGatherDirect, step(sent(other, cell(in, 0)),
		gen.RecvReduce{From: other, Into: cell(scratch, 0), With: cell(in, 0), ReceivedFirst: void(spec.Lt(other, rank))})), noHints},
	{"bounds: the number of operands has a value", among(2, gen.AllGatherDirect, first(0, step(mine, gen.Reduce{Into: cell(scratch, 1), Var: "i", N: void(one), From: cell(scratch, 0)}))), noHints},
	{"bounds: an operand", among(2, gen.AllGatherDirect, step(gen.Reduce{Into: cell(scratch, 1), Var: "i", N: zero, From: cell(scratch, 0)})), noHints},
	{"bounds: region: the first cell has a value", among(2, gen.AllGatherDirect, step(copied(gen.Chunk(scratch, void(zero)), cell(in, 0)))), noHints},
	{"bounds: region: the number of cells has a value", among(2, gen.AllGatherDirect, step(gen.Finish{Data: gen.Span(scratch, zero, void(zero))})), noHints},
	{"bounds: region: the chunk that it is like has a value", among(2, gen.AllGatherDirect, step(copied(gen.Slot(scratch, zero, void(zero)), cell(in, 0)))), noHints},
	{"bounds: region: the first cell is not negative", among(2, gen.AllGatherDirect, step(copied(cell(scratch, -1), cell(in, 0)))), noHints},
	{"bounds: region: the number of cells is not negative", among(2, gen.AllGatherDirect, step(gen.Finish{Data: cells(scratch, 1, -1)})), noHints},
	{"bounds: region: the last cell is in the buffer", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 6), cell(in, 0)))), noHints},
	{"bounds: region: the rank passes the buffer", only(2, gen.GatherLinear, append([]gen.Node{step(copied(cell(out, 0), cell(in, 0)))}, gen.GatherLinear.Body...)...), noHints},
	{"bounds: operand: the first cell has a value", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 0), gen.Chunk(in, void(zero))))), noHints},
	{"bounds: operand: the number of cells has a value", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 0), gen.Span(in, zero, void(one))))), noHints},
	{"bounds: operand: the chunk that it is like has a value", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 0), gen.Slot(in, zero, void(zero))))), noHints},
	{"bounds: operand: the first cell is not negative", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 0), cell(in, -1)))), noHints},
	{"bounds: operand: the last cell is in the buffer", among(2, gen.AllGatherDirect, step(copied(cell(scratch, 0), cell(in, 1)))), noHints},
	{"bounds: operand: the rank passes the buffer", among(2, gen.ScatterLinear, step(copied(cell(scratch, 0), cell(in, 0)))), noHints},
	{"bounds: operand: as many cells", among(3, gen.AllToAllDirect, step(copied(cells(scratch, 0, 1), cells(in, 0, 2)))), noHints},
	{"bounds: operand: as long a chunk", chunks(n(2), only(1, gen.AllReduceOneShot, step(
		copied(cells(out, 0, 2), cells(in, 0, 2)), gen.Finish{Data: cells(out, 0, 2)}, copied(gen.Slot(scratch, zero, one), cell(in, 0))))), noHints},
	{"bounds: operand i: the first cell is not negative", among(2, gen.AllGatherDirect, first(0, step(reduced(one, cell(in, -1))))), noHints},
	{"bounds: operand i: the last cell is in the buffer", among(2, gen.AllGatherDirect, first(0, step(reduced(one, cell(in, 1))))), noHints},
	{"frame: not in", among(2, gen.AllGatherDirect, step(copied(cell(in, 0), cell(in, 0)))), noHints},

	{"matched: a send: data", among(2, gen.AllGatherDirect, step(sent(other, cell(in, 0)), gen.Recv{From: other})), noHints},
	{"matched: a send: as long a chunk", chunks(n(2), among(2, wholeOfTwo, step(sent(other, cell(in, 0)), received(other, gen.Slot(scratch, zero, one))))), noHints},
	{"matched: a send: as many cells", among(2, gen.AllToAllDirect, step(sent(other, cells(in, 0, 2)), received(other, cell(scratch, 0)))), noHints},
	{"matched: a send: its peer is this rank", among(3, gen.AllGatherDirect, step(where(spec.Lt(rank, n(2)), sent(n(2), cell(in, 0))),
		first(2, received(zero, cell(scratch, 0))))), noHints},
	{"matched: a receive: its peer is this rank", among(3, gen.AllGatherDirect, step(first(0, sent(one, cell(in, 0))),
		where(spec.Lt(zero, rank), received(zero, cell(scratch, 0))))), noHints},
	{"matched: a send: the peer comes there", among(2, gen.AllGatherDirect, step(first(0, sent(other, cell(in, 0))), first(0, where(isSecond, received(other, cell(scratch, 0)))))), noHints},
	{"matched: a receive: the peer comes there", among(2, gen.AllGatherDirect, step(first(0, where(isSecond, sent(other, cell(in, 0)))), first(0, received(other, cell(scratch, 0))))), noHints},
	{"distinct: a send: the turn of the peer", among(3, gen.AllGatherDirect, step(turns(2, sent(next, cell(in, 0))), turns(1, received(prev, gen.Chunk(scratch, turnCell))))), noHints},
	{"distinct: a receive: the turn of the peer", among(3, gen.AllGatherDirect, step(turns(1, sent(next, cell(in, 0))), turns(2, received(prev, gen.Chunk(scratch, turnCell))))), noHints},
	{"distinct: the turn of the cell", among(3, gen.AllGatherDirect, step(everyOther(cell(in, 0), cell(scratch, 0))...)), noHints},
	{"distinct: a cell", among(3, gen.AllToAllDirect, step(everyOther(cells(in, 0, 2), gen.Span(scratch, turnCell, n(2)))...)), noHints},
	{"exclusive: one step", among(2, gen.AllGatherDirect, step(sent(other, cell(in, 0))), step(received(other, cell(scratch, 0)))),
		gen.Hints{Together: [][2]int{{3, 4}}}},
	{"sent: known", among(2, gen.AllGatherDirect, first(0, step(mine)), step(sent(other, cell(scratch, 0)), received(other, cell(scratch, 1)))), noHints},

	{"apart: what is sent", among(2, gen.AllGatherDirect, step(mine), step(sent(other, cell(scratch, 0)), received(other, cell(scratch, 0)))), noHints},
	{"apart: what is sent, all of it", among(2, gen.AllToAllDirect, step(copied(cells(scratch, 0, 2), cells(in, 0, 2))),
		step(sent(other, cells(scratch, 0, 2)), gen.Recv{From: other, Into: cells(scratch, 1, 2), AfterSend: true})), noHints},
	{"apart: what is sent, to that rank", among(3, gen.AllGatherDirect, step(mine),
		step(sent(next, cell(scratch, 0)), gen.Recv{From: prev, Into: cell(scratch, 0), AfterSend: true})), noHints},
	{"apart: what is received", among(3, gen.AllGatherDirect, step(sent(next, cell(in, 0)), sent(prev, cell(in, 0)),
		received(prev, cell(scratch, 0)), received(next, cell(scratch, 0)))), noHints},
	{"apart: what is reduced", commutative(among(3, gen.AllGatherDirect, step(mine), step(sent(next, cell(in, 0)), sent(prev, cell(in, 0)),
		received(prev, cell(scratch, 0)), gen.RecvReduce{From: next, Into: cell(scratch, 1), With: cell(scratch, 0)}))), noHints},
	{"apart: what is reduced", commutative(among(3, gen.AllGatherDirect, step(mine), step(sent(prev, cell(in, 0)), sent(next, cell(in, 0)),
		gen.RecvReduce{From: next, Into: cell(scratch, 1), With: cell(scratch, 0)}, received(prev, cell(scratch, 0))))), noHints},
	{"alias: what is copied", among(2, gen.AllGatherDirect, step(copied(cells(scratch, 1, 2), cells(scratch, 0, 2)))), noHints},
	{"alias: what is reduced", among(2, gen.AllToAllDirect, step(copied(cells(scratch, 0, 2), cells(in, 0, 2))), step(sent(other, cells(in, 0, 2)),
		gen.RecvReduce{From: other, Into: cells(scratch, 1, 2), With: cells(scratch, 0, 2), ReceivedFirst: spec.Lt(other, rank)})), noHints},
	{"alias: operand i", among(2, gen.AllToAllDirect, first(0, step(copied(cells(scratch, 0, 2), cells(in, 0, 2)),
		gen.Reduce{Into: cells(scratch, 1, 2), Var: "i", N: one, From: cells(scratch, 0, 2)}))), noHints},
	{"alias: the first two operands", among(3, gen.AllGatherDirect, step(copied(cells(scratch, 0, 3), cells(out, 0, 3)),
		gen.Reduce{Into: cell(scratch, 2), Var: "i", N: n(3), From: gen.Chunk(scratch, v("i"))})), noHints},

	{"lend: scratch", only(1, gen.AllGatherDirect, step(gen.Copy{Into: cell(out, 0), From: cell(in, 0), Lend: true}), step(copied(cell(out, 0), cell(in, 0)))), noHints},
	{"lend: unchanged", among(1, gen.AllGatherDirect, step(gen.Copy{Into: cell(scratch, 0), From: cell(out, 0), Lend: true},
		copied(cell(out, 0), cell(in, 0)), reduced(one, cell(scratch, 0)))), noHints},
	{"lend: read in time", among(2, gen.AllToAllDirect, first(0, step(copied(cells(scratch, 0, 2), cells(in, 0, 2))),
		step(gen.Copy{Into: cells(scratch, 4, 2), From: cells(scratch, 0, 2), Lend: true},
			gen.Reduce{Into: cells(scratch, 1, 2), Var: "i", N: one, From: cells(scratch, 4, 2)}))), noHints},

	{"operands: the left one is known", among(2, gen.AllGatherDirect, first(1, step(mine)), wholeWith(cell(scratch, 0))), noHints},
	{"operands: the right one is known", among(2, gen.AllGatherDirect, first(0, step(mine)), wholeWith(cell(scratch, 0))), noHints},
	{"operands: of one chunk", among(2, gen.AllToAllDirect, step(sent(other, cell(in, 0)),
		gen.RecvReduce{From: other, Into: cell(scratch, 0), With: cell(in, 1), ReceivedFirst: spec.Lt(other, rank)})), noHints},
	{"operands: ranges that meet", among(2, gen.AllGatherDirect, step(sent(other, cell(in, 0)), gen.RecvReduce{From: other, Into: cell(scratch, 0), With: cell(in, 0)})), noHints},
	{"operands: no more than all ranks", commutative(among(2, gen.AllGatherDirect, whole(cell(scratch, 0)), wholeWith(cell(scratch, 0)))), noHints},
	{"operands: what is finished: known", among(2, gen.AllGatherDirect, whole(cell(scratch, 1)), first(0, step(copied(cell(scratch, 0), cell(scratch, 1)))), step(gen.Finish{Data: cell(scratch, 0)})), noHints},
	{"operands: not finished before", among(1, gen.AllGatherDirect, step(mine, gen.Finish{Data: cell(scratch, 0)}, gen.Finish{Data: cell(scratch, 0)})), noHints},
	{"operands: the sum of all ranks", among(2, gen.AllGatherDirect, step(mine, gen.Finish{Data: cell(scratch, 0)})), noHints},
	{"operands: operand i: known", among(2, gen.AllGatherDirect, first(1, step(mine)), first(0, step(reduced(one, cell(scratch, 0))))), noHints},
	{"operands: operand i: chunk", among(2, gen.AllToAllDirect, step(sent(other, gen.Chunk(in, rank)), received(other, gen.Chunk(scratch, other)),
		copied(gen.Chunk(scratch, rank), gen.Chunk(in, rank)), gen.Reduce{Into: cell(scratch, 2), Var: "i", N: n(2), From: gen.Chunk(scratch, v("i"))})), noHints},
	{"operands: operand i: first rank", among(2, gen.AllGatherDirect, first(1, step(reduced(one, cell(in, 0))))), noHints},
	{"operands: operand i: count", among(2, gen.AllGatherDirect, whole(cell(scratch, 0)), step(reduced(one, cell(scratch, 0)))), noHints},
	{"operands: operand i: finished", among(1, gen.AllGatherDirect, step(mine, gen.Finish{Data: cell(scratch, 0)}, reduced(one, cell(scratch, 0)))), noHints},

	{"entry: known", reordered(2, first(0, step(mine)), step(mine)), claims(slot0(one, zero, rank, one, false))},
	{"entry: chunk", reordered(1, step(mine), step(mine)), claims(slot0(one, spec.If(before, one, zero), rank, one, false))},
	{"entry: first rank", reordered(1, step(mine), step(mine)), claims(slot0(one, zero, spec.If(before, off(rank), rank), one, false))},
	{"entry: count", reordered(1, step(mine), step(mine)), claims(slot0(one, zero, rank, spec.If(before, n(2), one), false))},
	{"entry: finished", reordered(1, step(mine), step(mine)), claims(slot0(before, zero, rank, one, true), slot0(after, zero, rank, one, false))},
	{"step: known", looped(2, first(0, step(mine))), claims(slot0(after, zero, rank, one, false))},
	{"step: chunk", looped(1, step(mine)), claims(slot0(after, one, rank, one, false))},
	{"step: first rank", looped(1, step(mine)), claims(slot0(after, zero, off(rank), one, false))},
	{"step: count", looped(1, step(mine)), claims(slot0(after, zero, rank, n(2), false))},
	{"step: finished", looped(1, step(mine)), claims(slot0(after, zero, rank, one, true))},

	{"post: heard", only(2, gen.BarrierDirect), noHints},
	{"post: something is promised", promising(spec.Lt(zero, spec.Block), among(1, gen.AllGatherDirect)), noHints},
	{"post: input: known", only(2, gen.AllGatherDirect, step(sent(other, cell(in, 0)), received(other, gen.Chunk(scratch, other)), copied(gen.Chunk(scratch, rank), cell(in, 0))),
		first(0, step(copied(cells(out, 0, 2), cells(scratch, 0, 2))))), noHints},
	{"post: input: chunk", only(2, gen.AllToAllDirect, step(sent(other, gen.Chunk(in, rank)), received(other, gen.Chunk(out, other)),
		copied(gen.Chunk(out, rank), gen.Chunk(in, rank)))), noHints},
	{"post: input: first rank", among(2, gen.AllGatherDirect, step(copied(gen.Chunk(out, other), cell(in, 0)))), noHints},
	{"post: input: count", among(2, gen.AllGatherDirect, whole(cell(scratch, 0)), step(copied(cell(out, 0), cell(scratch, 0)))), noHints},
	{"post: input: finished", among(1, gen.AllGatherDirect, step(gen.Finish{Data: cell(out, 0)})), noHints},
	{"post: sum: known", only(2, gen.AllReduceOneShot, whole(cell(scratch, 0)), step(gen.Finish{Data: cell(scratch, 0)}), first(0, step(copied(cell(out, 0), cell(scratch, 0))))), noHints},
	{"post: sum: chunk", chunks(n(2), only(1, gen.AllReduceOneShot, step(copied(cell(out, 0), cell(in, 0)), copied(gen.Chunk(out, one), gen.Slot(in, zero, one)), gen.Finish{Data: cells(out, 0, 2)}))), noHints},
	{"post: sum: finished", only(1, gen.AllReduceOneShot, step(copied(cell(out, 0), cell(in, 0)))), noHints},
	{"tree: the left one's first rank", commutative(only(2, gen.AllReduceOneShot, step(sent(other, cell(in, 0)), gen.RecvReduce{From: other, Into: cell(out, 0), With: cell(in, 0)}),
		step(gen.Finish{Data: cell(out, 0)}))), noHints},
	{"tree: the left one's count", only(3, gen.AllReduceOneShot,
		step(first(2, sent(n(1), cell(in, 0))), first(1, gen.RecvReduce{From: n(2), Into: cell(scratch, 0), With: cell(in, 0)})),
		step(first(1, sent(n(0), cell(scratch, 0))), first(0, gen.RecvReduce{From: n(1), Into: cell(out, 0), With: cell(in, 0)})),
		step(first(0, sent(n(1), cell(in, 0))), first(1, gen.RecvReduce{From: n(0), Into: cell(scratch, 1), With: cell(in, 0), ReceivedFirst: one})),
		step(first(1, sent(n(2), cell(scratch, 1))), first(2, gen.RecvReduce{From: n(1), Into: cell(out, 0), With: cell(in, 0), ReceivedFirst: one})),
		step(first(0, sent(n(1), cell(out, 0))), first(1, received(n(0), cell(out, 0)))),
		step(gen.Finish{Data: cell(out, 0)})), noHints},

	{"alias in place", inPlace(only(3, gen.AllToAllDirect, step(append(everyOther(gen.Chunk(in, v("to")), gen.Chunk(scratch, v("from"))), copied(gen.Chunk(scratch, rank), gen.Chunk(in, rank)))...),
		step(copied(cells(out, 1, 2), cells(in, 0, 2)), copied(cells(out, 0, 3), cells(scratch, 0, 3))))), noHints},
	{"apart in place", inPlace(only(2, gen.AllToAllDirect, step(copied(gen.Chunk(out, rank), gen.Chunk(in, rank))),
		step(sent(other, gen.Chunk(in, other)), received(other, gen.Chunk(out, other))))), noHints},
	{"lend in place", inPlace(only(1, gen.AllReduceOneShot, step(gen.Copy{Into: cell(scratch, 0), From: cell(in, 0), Lend: true},
		copied(cell(out, 0), cell(scratch, 1)), gen.Reduce{Into: cell(out, 0), Var: "i", N: one, From: cell(scratch, 0)}, gen.Finish{Data: cell(out, 0)}))), noHints},
	{"sent in place", inPlace(among(2, gen.AllGatherDirect, step(copied(cell(scratch, 1), cell(in, 0)), copied(gen.Chunk(out, rank), cell(scratch, 0))),
		step(sent(other, cell(in, 0)), received(other, cell(scratch, 2))), step(copied(gen.Chunk(out, rank), cell(scratch, 1))))), noHints},
	{"operands in place", inPlace(only(2, gen.AllReduceOneShot, swapped, whole(cell(scratch, 0)), step(copied(cell(out, 0), cell(scratch, 0)), gen.Finish{Data: cell(out, 0)}))), noHints},
	{"entry in place", inPlace(only(1, gen.AllReduceOneShot, finished, gen.For{Var: "k", N: one, Body: []gen.Node{step(copied(cell(scratch, 0), cell(out, 0)))}})),
		gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{Buf: out, Chunk: zero, First: zero, Count: one, Done: true}}}}}},
	{"step in place", inPlace(only(1, gen.AllReduceOneShot, gen.For{Var: "k", N: one, Body: []gen.Node{finished}})),
		gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{Buf: out, Where: after, Chunk: zero, First: zero, Count: one, Done: true}}}}}},
	{"post in place", inPlace(among(2, gen.AllGatherDirect, step(copied(gen.Chunk(out, rank), gen.Chunk(out, other))), step(copied(gen.Chunk(out, rank), cell(in, 0))))), noHints},
	{"tree in place", inPlace(commutative(only(2, gen.AllReduceOneShot, step(mine), swapped, step(
		first(0, sent(one, cell(in, 0))), first(1, sent(zero, cell(scratch, 0))),
		first(1, gen.RecvReduce{From: zero, Into: cell(scratch, 1), With: cell(in, 0), ReceivedFirst: one}),
		first(0, gen.RecvReduce{From: one, Into: cell(scratch, 1), With: cell(scratch, 0)})),
		step(copied(cell(out, 0), cell(scratch, 1)), gen.Finish{Data: cell(out, 0)})))), noHints},
}

var (
	// swapped has each of two ranks get the other one's input, in place instead of its own.
	swapped  = step(sent(other, cell(in, 0)), gen.Recv{From: other, Into: cell(out, 0), AfterSend: true})
	finished = step(copied(cell(out, 0), cell(in, 0)), gen.Finish{Data: cell(out, 0)})
)

func slots(m spec.Expr, a gen.Algorithm) gen.Algorithm {
	a.Scratch = m
	return a
}

func reduced(m spec.Expr, from gen.Region) gen.Node {
	return gen.Reduce{Into: cell(scratch, 5), Var: "i", N: m, From: from}
}

func promising(where spec.Expr, a gen.Algorithm) gen.Algorithm {
	a.Primitive.Post = slices.Clone(a.Primitive.Post)
	a.Primitive.Post[0].Where = where
	return a
}

// wholeWith has two ranks reduce what they send each other with what they have there.
func wholeWith(with gen.Region) gen.Node {
	return step(sent(other, cell(in, 0)), gen.RecvReduce{From: other, Into: cell(scratch, 4), With: with, ReceivedFirst: spec.Lt(other, rank)})
}

// turnCell is the cell that belongs to a turn of a loop over all other ranks.
var turnCell = spec.Down(spec.Sub(under(rank), v("t")), size)

// turns has a rank do something so many times in one step.
func turns(m int, x gen.Node) gen.Node { return gen.For{Var: "t", N: n(m), Body: []gen.Node{x}} }

// everyOther has every rank send data to each other one, and receive from it: to and from say whom.
func everyOther(data, into gen.Region) []gen.Node {
	return []gen.Node{gen.For{Var: "t", N: under(size), Body: []gen.Node{
		gen.Let{Name: "to", Is: spec.Up(off(spec.Add(rank, v("t"))), size)}, gen.Let{Name: "from", Is: turnCell},
		sent(v("to"), data), received(v("from"), into),
	}}}
}

// reordered is looped with a step before the loop.
func reordered(ranks int, before gen.Node, body ...gen.Node) gen.Algorithm {
	return among(ranks, gen.AllGatherDirect, before, gen.For{Var: "k", N: n(2), Body: body})
}

// wholeOfTwo is an all-reduce of two ranks with two chunks.
var wholeOfTwo = func() gen.Algorithm {
	a := gen.AllReduceOneShot
	exchange := func(c int) gen.Node {
		return step(sent(other, cell(in, c)), gen.RecvReduce{From: other, Into: cell(out, c), With: cell(in, c), ReceivedFirst: spec.Lt(other, rank)})
	}
	a.Body = []gen.Node{exchange(0), exchange(1), step(gen.Finish{Data: cells(out, 0, 2)})}
	return a
}()
