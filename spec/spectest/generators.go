package spectest

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// Sizes generates numbers of ranks: all up to 9, and a few that are hard on algorithms: a prime, a power of two and its
// neighbours.
func Sizes() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(1, 9), rapid.SampledFrom([]int{11, 15, 16, 17}))
}

// Calls generates calls that p does not refuse. A primitive that refuses every call on one rank gets more of them.
func Calls(p spec.Primitive) *rapid.Generator[spec.Call] {
	return rapid.Custom(func(t *rapid.T) spec.Call {
		c := spec.Call{Size: Sizes().Draw(t, "size")}
		for _, x := range p.Params {
			switch x {
			case spec.ParamRoot:
				c.Root = rapid.IntRange(0, c.Size-1).Draw(t, "root")
			case spec.ParamPeer:
				c.Peer = rapid.IntRange(0, c.Size-1).Draw(t, "peer")
			}
		}
		return c
	}).Filter(func(c spec.Call) bool {
		_, err := spec.Expect(p, c)
		var refused *spec.RefusedError
		return !errors.As(err, &refused)
	})
}

// Counts generates numbers of elements in a block for size ranks: none, one, a few around size, where chunks become
// empty or uneven, and primes.
func Counts(size int) *rapid.Generator[int] {
	return rapid.SampledFrom([]int{0, 1, size - 1, size, size + 1, 2*size + 1, 2, 3, 7, 13, 31, 61, 127, 251})
}

// Types generates element types.
func Types() *rapid.Generator[spec.Type] { return rapid.SampledFrom(spec.Types()) }

// Ops generates operators that take t.
func Ops(t spec.Type) *rapid.Generator[spec.Op] {
	return rapid.SampledFrom(slices.DeleteFunc(spec.Ops(), func(o spec.Op) bool { return !o.Takes(t) }))
}

// Inputs generates, for each rank, the input of a call of p with count elements in a block; nil where a rank passes
// none.
func Inputs[T spec.Elem](p spec.Primitive, c spec.Call, count int) *rapid.Generator[[][]T] {
	return rapid.Custom(func(t *rapid.T) [][]T {
		random, kind := source(t)
		all := make([][]T, c.Size)
		for rank := range all {
			blocks, err := p.In.Len(c.Env(rank))
			if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			if blocks > 0 {
				all[rank] = slice[T](random, kind, blocks*count)
			}
		}
		return all
	})
}

// source draws what random values are made from: one number for all, because drawing each would take too long.
func source(t *rapid.T) (*rand.Rand, Kind) {
	kind := rapid.SampledFrom([]Kind{Ordinary, Special, AnyBits, Mixed}).Draw(t, "kind")
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), kind
}

// slice returns n values that start anywhere in their memory, so that vector instructions meet every alignment. What
// lies around them belongs to the slice's array, and appending to it copies.
func slice[T spec.Elem](random *rand.Rand, kind Kind, n int) []T {
	lead := random.IntN(17)
	x := make([]T, lead+n+16)[lead : lead+n : lead+n]
	value := Values[T](random, kind)
	for i := range x {
		x[i] = value()
	}
	return x
}
