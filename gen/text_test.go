package gen_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

func TestText(t *testing.T) {
	a := &gen.Algorithm{
		Name: "all", Primitive: spec.AllReduce, Chunks: two, Scratch: depth,
		Requires: gen.Requires{Size: spec.Le(size, two), Commutative: true, OutOfPlace: true},
		Body: []gen.Node{
			let("next", up(add(rank, one), size)),
			letBuf("b", eq(rank, zero), in, out),
			gen.Fold{Var: "k", N: size, State: []gen.State{{Name: "x", First: one, Next: v("y")},
				{Name: "y", First: up(rank, size), Next: add(v("x"), v("z"))}}, Body: []gen.Node{let("z", v("k"))},
				When: lt(v("k"), v("y"))},
			loop("i", size, []gen.Node{when(lt(v("i"), rank), []gen.Node{gen.Step{
				send(v("next"), gen.Chunk("b", v("i"))),
				gen.Recv{From: v("next"), Into: gen.Slot(scratch, zero, one), AfterSend: true},
				gen.RecvReduce{From: rank, Into: block(out), With: gen.Span(in, one, two), ReceivedFirst: lt(rank, one),
					AfterSend: true},
				gen.RecvReduce{From: rank, Into: block(out), With: block(in)},
			}}, []gen.Node{gen.Step{gen.Copy{Into: block(out), From: block(in)}}})}),
			gen.Step{
				gen.Send{To: zero}, gen.Recv{From: zero},
				reduce(block(out), "j", two, gen.Chunk(in, v("j"))),
				finish(block(out)),
			},
		},
	}
	want := `allreduce/all(chunks = 2, scratch = depth), for sizes with size <= 2, for commutative ops, out of place:
        next = if (rank + 1) < size then rank + 1 else (rank + 1) - size
        buffer b = if rank == 0 then in else out
        fold x = 1, y = if rank < size then rank else rank - size for k < size:
          z = k
          next if k < y: x = y, y = x + z
        for i < size:
          if i < rank:
            step:
   0          send b[i] to next
   1          recv scratch[0 like 1] from next, after send
   2          recv-reduce out[0] = in[1..+2] ⊕ received, received first if rank < 1, from rank, after send
   3          recv-reduce out[0] = in[0] ⊕ received from rank
          else:
            step:
   4          copy out[0] = in[0]
        step:
   5      send nothing to 0
   6      recv nothing from 0
   7      reduce out[0] = ⊕ in[j] for j < 2
   8      finish out[0]
`
	if d := cmp.Diff(want, a.Text()); d != "" {
		t.Error(d)
	}
}

// TestHash changes every expression, name, mark and requirement of every algorithm, one at a time: each change has a
// hash of its own.
func TestHash(t *testing.T) {
	seen := map[[32]byte]string{}
	check := func(a gen.Algorithm, what string) {
		if other, ok := seen[a.Hash()]; ok {
			t.Errorf("%s and %s have the same hash", other, what)
		}
		seen[a.Hash()] = what
	}
	for _, a := range catalogue.Algorithms() {
		check(a, a.FullName())
		for i := 0; ; i++ {
			changed, ok := gen.Change(a, i)
			if !ok {
				break
			}
			check(changed, fmt.Sprintf("%s with change %d", a.FullName(), i))
		}
		about := a
		about.Doc, about.Source, about.Cost = "Another.", "Another.", gen.Cost{}
		if about.Hash() != a.Hash() {
			t.Errorf("%s: what is said about it changes its hash", a.FullName())
		}
		for what, edit := range map[string]func(*gen.Algorithm){
			"another name":      func(a *gen.Algorithm) { a.Name += "-2" },
			"another primitive": func(a *gen.Algorithm) { a.Primitive.Order++ },
			"sizes":             func(a *gen.Algorithm) { a.Requires.Size = lt(size, two) },
			"commutative":       func(a *gen.Algorithm) { a.Requires.Commutative = !a.Requires.Commutative },
			"out of place":      func(a *gen.Algorithm) { a.Requires.OutOfPlace = !a.Requires.OutOfPlace },
		} {
			edited := a
			edit(&edited)
			check(edited, a.FullName()+" with "+what)
		}
	}
}
