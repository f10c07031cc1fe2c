package gen_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

func fold1(turns, first, next expr) gen.Node {
	return gen.Fold{Var: "k", N: turns, State: []gen.State{{Name: "x", First: first, Next: next}}}
}

// TestFold compares what folds work out with what Go does, for the ranks of 40 as operands.
func TestFold(t *testing.T) {
	x, y, k := v("x"), v("y"), v("k")
	for name, tc := range map[string]struct {
		fold gen.Fold
		want func(rank int) int // x
	}{
		"the first number, of no turns": {gen.Fold{N: zero, State: []gen.State{{Name: "x", First: rank, Next: one}}},
			func(rank int) int { return rank }},
		"negative turns": {gen.Fold{N: sub(zero, rank), State: []gen.State{{Name: "x", First: two, Next: one}}},
			func(int) int { return 2 }},
		"a sum of turns": {gen.Fold{N: rank, State: []gen.State{{Name: "x", First: zero, Next: add(x, k)}}},
			func(rank int) int { return rank * (rank - 1) / 2 }},
		// of which each takes the value that the other one had
		"two that change at once": {gen.Fold{N: bitAnd(rank, spec.Int(15)), State: []gen.State{
			{Name: "x", First: zero, Next: y}, {Name: "y", First: one, Next: bitAnd(add(x, y), spec.Int(31))}}},
			func(rank int) int {
				x, y := 0, 1
				for range rank & 15 {
					x, y = y, (x+y)&31
				}
				return x
			}},
		"bits in the opposite order": {gen.Fold{N: spec.Int(5), State: []gen.State{{Name: "x", First: zero,
			Next: spec.BitOr(mul(x, two), bitAnd(spec.Shr(rank, k), one))}}},
			func(rank int) int { return int(bits.Reverse8(uint8(rank)&31) >> 3) }},
		"a greatest common divisor": {gen.Fold{N: size, When: y, State: []gen.State{
			{Name: "x", First: size, Next: y}, {Name: "y", First: rank, Next: spec.Mod(x, y)}}},
			func(rank int) int {
				x, y := 40, rank
				for y != 0 {
					x, y = y, x%y
				}
				return x
			}},
		"a count of primes": {gen.Fold{N: rank, When: and(lt(one, k), v("isPrime")), Body: []gen.Node{
			gen.Fold{Var: "d", N: k, When: and(lt(one, v("d")), eq(spec.Mod(k, most(one, v("d"))), zero)),
				State: []gen.State{{Name: "isPrime", First: one, Next: zero}}}},
			State: []gen.State{{Name: "x", First: zero, Next: add(x, one)}}},
			func(rank int) int {
				primes := []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}
				n, _ := slices.BinarySearch(primes, rank)
				return n
			}},
	} {
		tc.fold.Var = "k"
		a := gen.Algorithm{Name: "fold", Primitive: spec.AllGather, Doc: "A doc.", Source: "New.", Scratch: spec.Int(1024),
			Body: []gen.Node{tc.fold, gen.Step{gen.Copy{Into: gen.Chunk(scratch, x), From: block(in)}}}}
		if err := gen.Validate(&a); err != nil {
			t.Fatal(err)
		}
		s := instantiate(t, &a, gen.Params{Size: 40, Depth: 1})
		for rank := range s.Ranks {
			if got, want := s.Ranks[rank].Instrs[0].Dst.At, tc.want(rank); got != want {
				t.Errorf("%s: %d, want %d, for %d", name, got, want, rank)
			}
		}
	}
}

// TestFoldInGroup: the names of a fold in a part of an algorithm begin with that of the group.
func TestFoldInGroup(t *testing.T) {
	part := gen.Algorithm{Name: "part", Primitive: spec.AllGather, Body: []gen.Node{
		gen.Fold{Var: "k", N: size, Body: []gen.Node{let("y", add(v("x"), v("k")))}, When: lt(v("y"), rank),
			State: []gen.State{{Name: "x", First: rank, Next: v("y")}}},
		gen.Step{gen.Copy{Into: gen.Chunk(out, v("x")), From: block(in)}},
	}}
	g := gen.Group{Name: "host", First: zero, Stride: one, N: two, Member: bitAnd(rank, one)}
	a := gen.Algorithm{Name: "whole", Primitive: spec.AllGather,
		Body: g.Run(&part, map[spec.Buf]gen.Part{in: {Buf: in}, out: {Buf: out}}, false)}
	const want = `allgather/whole(chunks = 1, scratch = 0):
        fold hostX = rank & 1 for hostK < 2:
          hostY = hostX + hostK
          next if hostY < (rank & 1): hostX = hostY
        step:
   0      copy out[hostX] = in[0]
`
	if got := a.Text(); got != want {
		t.Error(got)
	}
}
