package verify_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// TestAlternating makes calls on one communicator of which each differs from one before it in one thing: the type, with
// as many bytes; the op; the root; the algorithm; the depth; or whether it is in place. What a communicator keeps of a
// call, for the next one like it, must not be taken for another.
func TestAlternating(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		check := func(t *testing.T, w world) {
			of := w.over(divisions(size)[0][0])
			for i, bytes := range []int{48, 240, 3840} {
				inOneProgram(alternating(of, bytes), i, blocking, blocking, blocking, started, blocking).check(t, w)
			}
		}
		t.Run(fmt.Sprint("goroutines/", size), func(t *testing.T) { check(t, goroutines(size)) })
		for _, by := range transports {
			t.Run(fmt.Sprint(by.name, "/", size), func(t *testing.T) { check(t, newProcesses(t, size, &by)) })
		}
	}
}

// alternating returns calls on a communicator of which tables see so much, with blocks of so many bytes, a multiple of
// all types' sizes. The calls of a primitive follow each other.
func alternating(of selection.Call, bytes int) (calls []variant) {
	random := rand.New(rand.NewPCG(uint64(of.Size), uint64(bytes)))
	byPrimitive := map[string][]*gen.Algorithm{}
	for _, a := range algorithmsFor(of) {
		byPrimitive[a.Primitive.Name] = append(byPrimitive[a.Primitive.Name], a)
	}
	for _, name := range slices.Sorted(maps.Keys(byPrimitive)) {
		algorithms := byPrimitive[name]
		v := variant{a: algorithms[0], ty: spec.TypeFloat32, op: spec.OpSum, p: callsOver(of, algorithms[0], 2)[0]}
		for range 24 {
			v = v.otherwise(random, of, algorithms, bytes)
			chosen := v
			if chosen.byTable = random.IntN(4) > 0; chosen.byTable {
				depth := chosen.selected(of)
				chosen.p = pick(random, callsOver(of, chosen.a, depth...))
			}
			if calls = append(calls, chosen); random.IntN(3) == 0 {
				calls = append(calls, pick(random, calls)) // one that was made before
			}
		}
	}
	return calls
}

// otherwise returns v with one thing changed, with blocks of so many bytes, by one of algorithms.
func (v variant) otherwise(random *rand.Rand, of selection.Call, algorithms []*gen.Algorithm, bytes int) variant {
	switch random.IntN(6) {
	case 0:
		v.ty = pick(random, spec.Types())
	case 5:
		size := v.ty.Bytes()
		v.ty = pick(random, slices.DeleteFunc(spec.Types(), func(ty spec.Type) bool { return ty.Bytes() != size }))
	case 1:
		v.op = pick(random, opsOf(v.a.Primitive, v.ty))
	case 2:
		v.a = pick(random, algorithms)
	case 3:
		v.inPlace = !v.inPlace
	}
	v.count = bytes / v.ty.Bytes()
	if ops := opsOf(v.a.Primitive, v.ty); !slices.Contains(ops, v.op) {
		v.op = pick(random, ops)
	}
	v.inPlace = v.inPlace && hasInPlace(v.a)
	params := callsOver(of, v.a, depths(v.count)...)
	if !slices.Contains(params, v.p) || random.IntN(5) == 0 {
		v.p = pick(random, params) // root, peer and depth
	}
	return v
}
