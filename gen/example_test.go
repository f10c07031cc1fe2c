package gen_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// A broadcast among hosts of four ranks each: to the ranks with the root's place on their hosts, and from these to all
// others. Each part is an algorithm of the catalogue. The proof is of the whole.
func ExampleGroup_Run() {
	four := spec.Int(4)
	host, place, home := spec.Var("host"), spec.Var("place"), spec.Var("home")
	placeOf := func(rank spec.Expr) spec.Expr { return spec.BitAnd(rank, spec.Int(3)) }
	hostOf := func(rank spec.Expr) spec.Expr { return spec.Shr(rank, spec.Int(2)) }

	across := gen.Group{Name: "across", First: home, Stride: four, N: hostOf(spec.Size), Member: host,
		Root: hostOf(spec.Root)}
	within := gen.Group{
		Name: "within", First: spec.Mul(host, four), Stride: spec.Int(1), N: four, Member: place, Root: home,
	}
	// The chain cuts the block into pieces. What is one chunk of the tree is all of these.
	in, out := gen.Part{Buf: spec.In, N: spec.Depth}, gen.Part{Buf: spec.Out, N: spec.Depth}
	pieces := gen.Part{Buf: spec.Out}
	body := []gen.Node{
		gen.Let{Name: "host", Is: hostOf(spec.Rank)},
		gen.Let{Name: "place", Is: placeOf(spec.Rank)},
		gen.Let{Name: "home", Is: placeOf(spec.Root)},
		gen.If{
			Cond: spec.Eq(place, home),
			Then: across.Run(&catalogue.BroadcastBinomial, map[spec.Buf]gen.Part{spec.In: in, spec.Out: out}, false),
		},
	}
	body = append(body, within.Run(&catalogue.BroadcastChain, map[spec.Buf]gen.Part{spec.In: pieces, spec.Out: pieces},
		false)...)

	a := gen.Algorithm{
		Name:      "two-level",
		Primitive: spec.Broadcast,
		Doc:       "A binomial tree among hosts, and a chain on each of them.",
		Source:    "New",
		Requires:  gen.Requires{Size: spec.Eq(placeOf(spec.Size), spec.Int(0))},
		Chunks:    spec.Depth,
		Body:      body,
	}
	if err := gen.Validate(&a); err != nil {
		fmt.Println(err)
	}
	proved, err := verify.Algorithm(context.Background(), &a, verify.Options{To: 16, Depths: []int{1, 2}})
	fmt.Println(proved.Sizes, proved.Depths, proved.Schedules, err)
	// Output: [4 8 12 16] [1 2] 80 <nil>
}

// Ranks are in groups as large as the smallest divisor of their number, which a search finds. The last of each group
// sends its block to the first.
func ExampleFold() {
	group, k := spec.Var("group"), spec.Var("k")
	divides := spec.Eq(spec.Mod(spec.Size, spec.Add(k, spec.Int(2))), spec.Int(0))
	place := spec.Mod(spec.Rank, group)
	block := func(b spec.Buf) gen.Region { return gen.Chunk(b, spec.Int(0)) }
	a := gen.Algorithm{Name: "groups", Primitive: spec.AllGather, Body: []gen.Node{
		gen.Fold{Var: "k", N: spec.Size, When: spec.And(spec.Eq(group, spec.Int(1)), divides),
			State: []gen.State{{Name: "group", First: spec.Int(1), Next: spec.Add(k, spec.Int(2))}}},
		gen.Let{Name: "others", Is: spec.Sub(group, spec.Int(1))},
		gen.Step{
			gen.If{Cond: spec.Eq(place, spec.Var("others")),
				Then: []gen.Node{gen.Send{To: spec.Sub(spec.Rank, spec.Var("others")), Data: block(spec.In)}}},
			gen.If{Cond: spec.Eq(place, spec.Int(0)),
				Then: []gen.Node{gen.Recv{From: spec.Add(spec.Rank, spec.Var("others")), Into: block(spec.Out)}}},
		},
	}}
	for _, size := range []int{5, 8, 9} {
		s, err := gen.Instantiate(&a, gen.Params{Size: size, Depth: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		for rank, p := range s.Ranks {
			for _, in := range p.Instrs {
				if in.Kind == gen.SendInstr {
					fmt.Printf("%d of %d to %d\n", rank, size, in.Peer)
				}
			}
		}
	}
	// Output:
	// 4 of 5 to 0
	// 1 of 8 to 0
	// 3 of 8 to 2
	// 5 of 8 to 4
	// 7 of 8 to 6
	// 2 of 9 to 0
	// 5 of 9 to 3
	// 8 of 9 to 6
}
