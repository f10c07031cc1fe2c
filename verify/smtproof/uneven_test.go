package smtproof_test

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// unevenPlants are mistakes about how long uneven blocks are.
var unevenPlants = []planted{
	{"a block off by one", catalogue.AllGatherVRing, send(0, func(x *gen.Send) { x.Data.At = v("d") }), "matched"},
	{"swapped blocks", catalogue.AllToAllVDirect, send(0, func(x *gen.Send) { x.Data.At = v("from") }), "matched"},
	{"a slot as long as the block that was sent", catalogue.ReduceScatterVRing,
		recvReduce(0, func(x *gen.RecvReduce) { x.Into.Counts = []spec.Expr{v("c")} }), "bounds"},
	{"a slot as long as the sender's block", catalogue.ReduceScatterVDirect,
		recv(0, func(x *gen.Recv) { x.Into.Counts = []spec.Expr{v("from")} }), "matched"},
	{"a block whose length the rank does not know", catalogue.AllToAllVDirect, both(
		func(a *gen.Algorithm) { a.Scratch = spec.Size },
		recv(0, func(x *gen.Recv) { x.Into = gen.BlockSlot(spec.Scratch, v("from"), v("from"), v("from")) })), "bounds"},
	{"a slot of a block that does not exist", catalogue.ReduceScatterVRing,
		recvReduce(0, func(x *gen.RecvReduce) { x.Into.Counts = []spec.Expr{spec.Size} }), "bounds"},
	{"operands as long as another block", catalogue.ReduceScatterVDirect, reduce(0, func(x *gen.Reduce) {
		x.From.Counts = []spec.Expr{spec.Up(off(spec.Rank), spec.Size)}
	}), "operands"},
	{"a copy of a slot as long as another block", catalogue.ReduceScatterVDirect, func(a *gen.Algorithm) {
		slot := gen.BlockSlot(spec.Scratch, spec.Rank, spec.Up(off(spec.Rank), spec.Size))
		own := gen.BlockSlot(spec.Scratch, spec.Rank, spec.Rank)
		a.Body = append(a.Body, gen.Step{gen.Copy{Into: own, From: gen.Chunk(spec.In, spec.Rank)},
			gen.Copy{Into: slot, From: slot}})
	}, "length"},
}

func both(f, g func(*gen.Algorithm)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) { f(a); g(a) }
}

// like is a slot that is as long as the block of a rank, of AllGatherV.
func like(slot int, block spec.Expr) gen.Region { return gen.BlockSlot(scratch, n(slot), block) }

var (
	// ownBlock copies the input into slot 0.
	ownBlock = step(copied(like(0, rank), cell(in, 0)))
	sumOfOne = func(into, from gen.Region) gen.Node {
		return first(0, step(gen.Reduce{Into: into, Var: "i", N: one, From: from}))
	}
)

// unevenRefusedByOnePart are those of refusedByOnePart that have uneven blocks.
var unevenRefusedByOnePart = []wrong{
	{label: "bounds: region: the counts have values", a: among(2, catalogue.AllGatherVDirect,
		step(copied(like(0, void(rank)), cell(in, 0))))},
	{label: "bounds: operand: the counts have values", a: among(2, catalogue.AllGatherVDirect, ownBlock,
		step(copied(like(1, rank), like(0, void(rank)))))},
	{label: "bounds: operand i: the counts have values", a: among(2, catalogue.AllGatherVDirect, ownBlock,
		sumOfOne(like(5, rank), like(0, void(rank))))},
	{label: "bounds: region: the rank knows how long it is", a: among(3, catalogue.AllToAllVDirect,
		step(first(0, sent(one, cell(in, 2))), first(1, received(zero, gen.BlockSlot(scratch, zero, zero, n(2))))))},
	{label: "bounds: operand: as long a block", a: among(2, catalogue.AllGatherVDirect,
		step(copied(like(0, zero), cell(in, 0))))},
	{label: "bounds: operand i: as long a block", a: among(2, catalogue.AllGatherVDirect,
		sumOfOne(like(5, one), cell(in, 0)))},
	{label: "bounds: region: as long as is said", a: among(2, catalogue.AllGatherVDirect,
		step(copied(gen.BlockSlot(out, rank, zero), cell(in, 0))))},
	{label: "bounds: operand: as long as is said", a: among(2, catalogue.AllGatherVDirect,
		step(copied(like(0, rank), gen.BlockSlot(in, zero, zero))))},
	{label: "bounds: operand i: as long as is said", a: among(2, catalogue.AllGatherVDirect,
		sumOfOne(like(5, zero), gen.BlockSlot(in, zero, one)))},
	{label: "matched: a send: as long a block", a: among(2, catalogue.AllGatherVDirect, step(sent(other, cell(in, 0)),
		received(other, like(0, rank))))},
	{label: "sent: as long as what is there", a: among(2, catalogue.AllGatherVDirect, ownBlock,
		step(sent(other, like(0, zero)), received(other, like(1, zero))))},
	{label: "operands: as long as what is there", a: among(2, catalogue.AllGatherVDirect, ownBlock,
		sumOfOne(like(5, one), like(0, one)))},
	{label: "length: as long as what is there", a: among(2, catalogue.AllGatherVDirect, ownBlock,
		step(copied(like(1, zero), like(0, zero))))},
}
