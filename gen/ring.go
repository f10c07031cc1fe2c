package gen

import "github.com/collgen/collgen/spec"

// The ring: every rank sends to the next one and receives from the one before it.
var (
	next = spec.Var("next")
	prev = spec.Var("prev")
	ring = []Node{
		Let{"next", spec.Up(spec.Add(spec.Rank, spec.Int(1)), spec.Size)},
		Let{"prev", spec.Down(spec.Sub(spec.Rank, spec.Int(1)), spec.Size)},
	}
)

// AllReduceRing reduces each of size chunks once around the ring, and then passes the results around it once more.
var AllReduceRing = register(Algorithm{
	Name:      "ring",
	Primitive: spec.AllReduce,
	Doc:       "A reduce-scatter and an all-gather around the ring: the fewest bytes on every link, for large messages.",
	Source:    "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69(2), 2009",
	Requires:  Requires{Commutative: true},
	Chunks:    spec.Size,
	Body: append(ring[:len(ring):len(ring)],
		If{Cond: spec.Eq(spec.Size, spec.Int(1)), Then: []Node{Step{Copy{Into: Chunk(spec.Out, spec.Int(0)), From: Chunk(spec.In, spec.Int(0))}}}},
		For{"s", spec.Sub(spec.Size, spec.Int(1)), []Node{
			Let{"c", spec.Down(spec.Sub(spec.Rank, spec.Var("s")), spec.Size)},
			Let{"d", spec.Down(spec.Sub(spec.Var("c"), spec.Int(1)), spec.Size)},
			LetBuf{"partial", spec.Eq(spec.Var("s"), spec.Int(0)), spec.In, spec.Out},
			Step{
				Send{next, Chunk("partial", spec.Var("c"))},
				RecvReduce{From: prev, Into: Chunk(spec.Out, spec.Var("d")), With: Chunk(spec.In, spec.Var("d"))},
			},
		}},
		Step{Finish{Chunk(spec.Out, next)}}, // next is chunk 0 when there is one rank: Up(1, 1) = 0
		For{"s", spec.Sub(spec.Size, spec.Int(1)), []Node{
			Let{"c", spec.Down(spec.Sub(next, spec.Var("s")), spec.Size)},
			Let{"d", spec.Down(spec.Sub(spec.Var("c"), spec.Int(1)), spec.Size)},
			Step{
				Send{next, Chunk(spec.Out, spec.Var("c"))},
				Recv{From: prev, Into: Chunk(spec.Out, spec.Var("d"))},
			},
		}},
	),
	Cost: Cost{
		Alpha: spec.Mul(spec.Int(2), spec.Sub(spec.Size, spec.Int(1))),
		Beta:  spec.Mul(spec.Int(2), spec.Sub(spec.Size, spec.Int(1))),
		Gamma: spec.Sub(spec.Size, spec.Int(1)),
	},
})
