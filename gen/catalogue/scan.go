package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// A scan: each rank adds its block to what the ranks before it have.

var (
	_ = rules(spec.Scan, scanRules...)
	_ = rules(spec.Exscan, scanRules...)
)

// scanRules are as `collgen cost` has it: a chain of two ranks is one message, and one of many has many steps.
var scanRules = []gen.Rule{
	{Algorithm: "chain", MaxSize: 2, PieceBytes: 64 * kib},
	{Algorithm: "doubling", MaxSize: 4, MaxBytes: 64 * kib},
	{Algorithm: "chain", MaxSize: 4, PieceBytes: 64 * kib},
	{Algorithm: "doubling", MaxBytes: 256 * kib},
	{Algorithm: "chain", PieceBytes: 64 * kib},
}

// ScanChain passes sums of chunk after chunk from rank to rank.
var ScanChain = register(gen.Algorithm{
	Name:      "chain",
	Primitive: spec.Scan,
	Doc: "Each rank adds to chunk after chunk, and passes the sum to the next rank, receiving one chunk while it sends " +
		"the one before: for long messages.",
	Source: "Open MPI, coll_base_scan.c, ompi_coll_base_scan_intra_linear, in pieces as in coll_base_reduce.c, pipeline",
	Chunks: depth,
	Body: []gen.Node{
		letBuf("data", eq(rank, zero), in, out),
		loop("i", add(depth, one), []gen.Node{gen.Step{
			gen.If{
				Cond: and(gt(now, zero), lt(rank, last)),
				Then: []gen.Node{gen.Send{To: add(rank, one), Data: gen.Chunk("data", then)}},
			},
			gen.If{
				Cond: and(lt(now, depth), gt(rank, zero)),
				Then: []gen.Node{gen.RecvReduce{
					From: sub(rank, one), Into: gen.Chunk(out, now), With: gen.Chunk(in, now), ReceivedFirst: yes,
				}},
			},
		}}),
		gen.If{Cond: eq(rank, zero), Then: []gen.Node{
			gen.Step{gen.Copy{Into: gen.Span(out, zero, depth), From: gen.Span(in, zero, depth)}},
		}},
		gen.Step{gen.Finish{Data: gen.Span(out, zero, depth)}},
	},
	Hints: scanChainHints,
	Cost: gen.Cost{Alpha: add(sub(size, two), depth), Beta: add(sub(size, two), depth),
		Gamma: add(sub(size, two), depth)},
})

// ScanDoubling adds the sums of twice as many ranks in every step.
var ScanDoubling = register(gen.Algorithm{
	Name:      "doubling",
	Primitive: spec.Scan,
	Doc: "In step k every rank adds what the rank 2^k before it has, the sum of up to 2^k ranks: the fewest steps, for " +
		"short messages.",
	Source:  "Hillis, Steele: Data parallel algorithms, CACM 29(12), 1986",
	Scratch: two,
	Body: []gen.Node{
		let("rounds", ceilLog2(size)),
		let("receives", log2(add(mul(two, rank), one))),
		loop("k", v("rounds"), slices.Concat(sumSoFar, []gen.Node{gen.Step{
			gen.If{
				Cond: lt(add(rank, distance), size),
				Then: []gen.Node{gen.Send{To: add(rank, distance), Data: gen.Chunk("sofar", v("at"))}},
			},
			gen.If{Cond: le(distance, rank), Then: []gen.Node{gen.RecvReduce{
				From: sub(rank, distance), Into: gen.Chunk(scratch, bitAnd(v("k"), one)), With: gen.Chunk("sofar", v("at")),
				ReceivedFirst: yes,
			}}},
		}})),
		letBuf("sum", eq(rank, zero), in, scratch),
		let("slot", cond(eq(rank, zero), zero, bitAnd(sub(v("receives"), one), one))),
		gen.Step{
			gen.Copy{Into: block(out), From: gen.Chunk("sum", v("slot"))},
			gen.Finish{Data: block(out)},
		},
	},
	Hints: scanDoublingHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: ceilLog2(size), Gamma: ceilLog2(size)},
})

var distance = shl(one, v("k"))

// sumSoFar names what a rank has before step k: its input, or what it received last, in two slots by turns.
var sumSoFar = []gen.Node{
	let("received", least(v("k"), v("receives"))),
	letBuf("sofar", eq(v("received"), zero), in, scratch),
	let("at", cond(eq(v("received"), zero), zero, bitAnd(sub(v("received"), one), one))),
}

// What the loops keep, for the proofs for every number of ranks.

// Before step k, a rank has the sum of the last 2^k ranks, or of all up to itself.
var scanDoublingHints = func() gen.Hints {
	count := least(distance, add(rank, one))
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: and(lt(zero, v("received")), eq(gen.Cell, v("at"))), Chunk: zero,
			First: sub(add(rank, one), count), Count: count},
		untouched(yes),
	}}}}
}()

var scanChainHints = gen.Hints{Loops: []gen.Invariant{{
	Skew: rank,
	Claims: []gen.Claim{
		{Buf: out, Where: and(lt(zero, rank), lt(gen.Cell, now)), Chunk: gen.Cell, First: zero, Count: add(rank, one)},
		untouched(or(eq(rank, zero), le(now, gen.Cell))),
	},
}}}

// The ranks behind the first do a scan of what each gets from the one before it.
var behindFirst = gen.Group{Name: "rest", First: one, Stride: one, N: sub(size, one), Member: sub(rank, one)}

// ExscanDoubling is a scan of what every rank gets from the one before it.
var ExscanDoubling = register(gen.Algorithm{
	Name:      "doubling",
	Primitive: spec.Exscan,
	Doc:       "Every rank passes its block to the next one, and those behind the first do a scan: for short messages.",
	Source:    ScanDoubling.Source,
	Scratch:   spec.Int(3),
	Body: shifted(gen.Chunk(scratch, two), behindFirst.Run(&ScanDoubling, map[spec.Buf]gen.Part{
		spec.In: {Buf: spec.Scratch, At: two}, spec.Out: {Buf: spec.Out}, spec.Scratch: {Buf: spec.Scratch},
	}, false)),
	Hints: exscanDoublingHints,
	Cost: gen.Cost{
		Alpha: add(one, ceilLog2(sub(size, one))),
		Beta:  add(one, ceilLog2(sub(size, one))),
		Gamma: ceilLog2(sub(size, one)),
	},
})

// ExscanChain is a scan, chunk after chunk, of what every rank gets from the one before it.
var ExscanChain = register(gen.Algorithm{
	Name:      "chain",
	Primitive: spec.Exscan,
	Doc: "Every rank passes its block to the next one, and those behind the first add to chunk after chunk of what " +
		"they got: for long messages.",
	Source:   ScanChain.Source,
	Requires: gen.Requires{OutOfPlace: true},
	Chunks:   depth,
	Body: shifted(gen.Span(out, zero, depth), behindFirst.Run(&ScanChain, map[spec.Buf]gen.Part{
		spec.In: {Buf: spec.Out}, spec.Out: {Buf: spec.Out},
	}, false)),
	Hints: exscanChainHints,
	Cost:  gen.Cost{Alpha: add(one, restOfChain), Beta: add(depth, restOfChain), Gamma: restOfChain},
})

// What every rank adds to its sum is the input of the one before it.
var exscanDoublingHints = func() gen.Hints {
	count := least(shl(one, v("restK")), rank)
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: eq(gen.Cell, two), Chunk: zero, First: sub(rank, one), Count: one},
		{Buf: scratch, Where: and(lt(zero, v("restReceived")), eq(gen.Cell, v("restAt"))), Chunk: zero,
			First: sub(rank, count), Count: count},
	}}}}
}()

var exscanChainHints = gen.Hints{Loops: []gen.Invariant{{
	Skew: rank,
	Claims: []gen.Claim{
		{Buf: out, Where: and(lt(one, rank), lt(gen.Cell, v("restI"))), Chunk: gen.Cell, First: zero, Count: rank},
		{Buf: out, Chunk: gen.Cell, First: sub(rank, one), Count: one},
	},
}}}

// restOfChain is the cost of a chain of the ranks behind the first.
var restOfChain = cond(eq(size, two), zero, add(sub(size, spec.Int(3)), depth))

// shifted has every rank pass its block to the next one, and all but the first go on with what they got.
func shifted(into gen.Region, rest []gen.Node) []gen.Node {
	data := gen.Region{Buf: in, At: zero, N: into.N}
	return []gen.Node{
		gen.Step{
			gen.If{Cond: lt(rank, last), Then: []gen.Node{gen.Send{To: add(rank, one), Data: data}}},
			gen.If{Cond: gt(rank, zero), Then: []gen.Node{gen.Recv{From: sub(rank, one), Into: into}}},
		},
		gen.If{Cond: gt(rank, zero), Then: rest},
	}
}
