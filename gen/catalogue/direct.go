package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The direct algorithms: every rank talks to every other one in a single step.

// AllGatherDirect sends the block to everybody at once.
var AllGatherDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.AllGather,
	Doc: "Every rank sends its block to every other one in a single step: the lowest latency where all ranks can " +
		"talk at once.",
	Source: vandegeijn,
	Body: []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}}, // first, as long as it is in the cache
		gen.Step{others(gen.Send{To: v("to"), Data: block(in)}, gen.Recv{From: v("from"), Into: gen.Chunk(out, v("from"))})},
	},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// ReduceScatterDirect sends every block to its rank, which reduces in rank order.
var ReduceScatterDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.ReduceScatter,
	Doc: "Every block goes straight to its rank, which reduces what it got in rank order: a single step, for " +
		"short messages.",
	Source:  "Microsoft MSCCL++, all-pairs reduce-scatter: the first half of its two-shot all-reduce",
	Scratch: size,
	Body:    directReduceScatter(evenSlot),
	Cost:    gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// directReduceScatter returns the program of a direct reduce-scatter.
func directReduceScatter(slot func(buf spec.Buf, at, block expr) gen.Region) []gen.Node {
	return []gen.Node{gen.Step{
		others(gen.Send{To: v("to"), Data: gen.Chunk(in, v("to"))},
			gen.Recv{From: v("from"), Into: slot(scratch, v("from"), rank), Lend: true}),
		gen.Copy{Into: slot(scratch, rank, rank), From: gen.Chunk(in, rank), Lend: true},
		gen.Reduce{Into: block(out), Var: "i", N: size, From: slot(scratch, v("i"), rank)},
		gen.Finish{Data: block(out)},
	}}
}

// AllReduceOneShot sends everything to everybody; each rank then reduces in rank order.
var AllReduceOneShot = register(gen.Algorithm{
	Name:      "one-shot",
	Primitive: spec.AllReduce,
	Doc: "Every rank sends its block to every other one, and each reduces all of them in rank order: a single " +
		"step, for short messages.",
	Source: "Microsoft MSCCL++, one-shot all-pairs all-reduce; NVIDIA TensorRT-LLM, customAllReduceKernels.cu, " +
		"oneShotAllReduceKernel",
	Scratch: size,
	Body: []gen.Node{gen.Step{
		others(gen.Send{To: v("to"), Data: block(in)}, gen.Recv{From: v("from"), Into: gen.Chunk(scratch, v("from")),
			Lend: true}),
		gen.Copy{Into: gen.Chunk(scratch, rank), From: block(in), Lend: true},
		gen.Reduce{Into: block(out), Var: "i", N: size, From: gen.Chunk(scratch, v("i"))},
		gen.Finish{Data: block(out)},
	}},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// AllReduceTwoShot is a direct reduce-scatter and a direct all-gather.
var AllReduceTwoShot = register(gen.Algorithm{
	Name:      "two-shot",
	Primitive: spec.AllReduce,
	Doc: "Every rank reduces one chunk in rank order and sends the result to every other one: two steps and the " +
		"fewest bytes, for messages of medium length and more where all ranks can talk at once.",
	Source: "Microsoft MSCCL++, two-shot all-pairs all-reduce; NVIDIA TensorRT-LLM, customAllReduceKernels.cu, " +
		"twoShotAllReduceKernel",
	Chunks:  size,
	Scratch: size,
	Body: []gen.Node{
		gen.Step{
			others(gen.Send{To: v("to"), Data: gen.Chunk(in, v("to"))},
				gen.Recv{From: v("from"), Into: gen.Slot(scratch, v("from"), rank), Lend: true}),
			gen.Copy{Into: gen.Slot(scratch, rank, rank), From: gen.Chunk(in, rank), Lend: true},
			gen.Reduce{Into: gen.Chunk(out, rank), Var: "i", N: size, From: gen.Slot(scratch, v("i"), rank)},
			gen.Finish{Data: gen.Chunk(out, rank)},
		},
		gen.Step{
			others(gen.Send{To: v("to"), Data: gen.Chunk(out, rank)},
				gen.Recv{From: v("from"), Into: gen.Chunk(out, v("from"))}),
		},
	},
	Cost: gen.Cost{Alpha: mul(two, sub(size, one)), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
})

// ScanDirect sends every block to the ranks behind.
var ScanDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.Scan,
	Doc: "Every rank sends its block to all ranks behind it, and each reduces what it got in rank order: a single step, " +
		"for short messages.",
	Source:  AllReduceOneShot.Source + ": a one-shot all-reduce, less what a prefix does not need",
	Scratch: size,
	Body: []gen.Node{gen.Step{
		toRanksBehind,
		fromRanksBefore,
		gen.Copy{Into: gen.Chunk(scratch, rank), From: block(in), Lend: true},
		gen.Reduce{Into: block(out), Var: "i", N: add(rank, one), From: gen.Chunk(scratch, v("i"))},
		gen.Finish{Data: block(out)},
	}},
	Hints: prefixTurns,
	Cost:  gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// ExscanDirect sends every block to the ranks behind.
var ExscanDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.Exscan,
	Doc:       ScanDirect.Doc,
	Source:    ScanDirect.Source,
	Scratch:   sub(size, one),
	Body: []gen.Node{gen.Step{
		toRanksBehind,
		fromRanksBefore,
		gen.If{Cond: gt(rank, zero), Then: []gen.Node{
			gen.Reduce{Into: block(out), Var: "i", N: rank, From: gen.Chunk(scratch, v("i"))},
			gen.Finish{Data: block(out)},
		}},
	}},
	Hints: prefixTurns,
	Cost:  gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, two)},
})

var (
	toRanksBehind = loop("t", sub(last, rank), []gen.Node{
		gen.Send{To: add(rank, add(v("t"), one)), Data: block(in)},
	})
	fromRanksBefore = loop("from", rank, []gen.Node{
		gen.Recv{From: v("from"), Into: gen.Chunk(scratch, v("from")), Lend: true},
	})
	prefixTurns = gen.Hints{Turns: []gen.Turns{{Turn: sub(sub(spec.Peer, rank), one)}, {Turn: rank}}}
)

// AllToAllDirect sends every block to its rank in a single step.
var AllToAllDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.AllToAll,
	Doc:       "All blocks are in flight at once: the lowest latency where all ranks can talk at once.",
	Source:    thakur,
	Body:      directAllToAll(true),
	Cost:      gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// directAllToAll returns the program of a direct all-to-all, which may be called in place or not.
func directAllToAll(inPlace bool) []gen.Node {
	return []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: gen.Chunk(in, rank)}}, // first, as long as it is in the cache
		gen.Step{others(
			gen.Send{To: v("to"), Data: gen.Chunk(in, v("to"))},
			gen.Recv{From: v("from"), Into: gen.Chunk(out, v("from")), AfterSend: inPlace}, // then it is what goes to that rank
		)},
	}
}

// BarrierDirect has every rank signal every other one.
var BarrierDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.Barrier,
	Doc:       "Every rank signals every other one in a single step: the lowest latency where all ranks can talk at once.",
	Source:    "NVIDIA TensorRT-LLM, customAllReduceKernels.cu, multi_gpu_barrier",
	Body:      []gen.Node{gen.Step{others(gen.Send{To: v("to")}, gen.Recv{From: v("from")})}},
	Cost:      gen.Cost{Alpha: sub(size, one), Beta: zero, Gamma: zero},
})
