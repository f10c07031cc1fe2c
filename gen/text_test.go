package gen

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	a := &Algorithm{
		Name: "all", Primitive: spec.AllReduce, Chunks: two, Scratch: depth,
		Requires: Requires{Size: spec.Le(size, two), Commutative: true, OutOfPlace: true},
		Body: []Node{
			Let{"next", up(add(rank, one), size)},
			LetBuf{"b", eq(rank, zero), in, out},
			For{"i", size, []Node{If{lt(v("i"), rank), []Node{Step{
				Send{v("next"), Chunk("b", v("i"))},
				Recv{From: v("next"), Into: Slot(scratch, zero, one), AfterSend: true},
				RecvReduce{From: rank, Into: block(out), With: Span(in, one, two), ReceivedFirst: lt(rank, one), AfterSend: true},
				RecvReduce{From: rank, Into: block(out), With: block(in)},
			}}, []Node{Step{Copy{Into: block(out), From: block(in)}}}}}},
			Step{
				Send{To: zero}, Recv{From: zero},
				Reduce{block(out), "j", two, Chunk(in, v("j"))},
				Finish{block(out)},
			},
		},
	}
	want := `allreduce/all(chunks = 2, scratch = depth), for sizes with size <= 2, for commutative ops, out of place:
        next = if (rank + 1) < size then rank + 1 else (rank + 1) - size
        buffer b = if rank == 0 then in else out
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

// TestHash changes every expression, name, mark and requirement of every algorithm, one at a time: each change has a hash of its own.
func TestHash(t *testing.T) {
	seen := map[[32]byte]string{}
	check := func(a Algorithm, what string) {
		if other, ok := seen[a.Hash()]; ok {
			t.Errorf("%s and %s have the same hash", other, what)
		}
		seen[a.Hash()] = what
	}
	for _, a := range Catalogue() {
		check(a, a.FullName())
		for i := 0; ; i++ {
			changed, ok := change(a, i)
			if !ok {
				break
			}
			check(changed, fmt.Sprintf("%s with change %d", a.FullName(), i))
		}
		about := a
		about.Doc, about.Source, about.Cost = "Another.", "Another.", Cost{}
		if about.Hash() != a.Hash() {
			t.Errorf("%s: what is said about it changes its hash", a.FullName())
		}
		for what, edit := range map[string]func(*Algorithm){
			"another name":      func(a *Algorithm) { a.Name += "-2" },
			"another primitive": func(a *Algorithm) { a.Primitive.Order++ },
			"sizes":             func(a *Algorithm) { a.Requires.Size = lt(size, two) },
			"commutative":       func(a *Algorithm) { a.Requires.Commutative = !a.Requires.Commutative },
			"out of place":      func(a *Algorithm) { a.Requires.OutOfPlace = !a.Requires.OutOfPlace },
		} {
			edited := a
			edit(&edited)
			check(edited, a.FullName()+" with "+what)
		}
	}
}

// change is a with its i-th expression, buffer or mark changed, if it has so many.
func change(a Algorithm, i int) (Algorithm, bool) {
	isIt := func() bool { i--; return i == -1 }
	var r rewriter
	r.expr = func(e expr) expr {
		if isIt() {
			return add(e.OrElse(one), spec.Int(77))
		}
		return e
	}
	r.buf = func(b spec.Buf) spec.Buf {
		if isIt() {
			return "changed"
		}
		return b
	}
	r.body = func(nodes []Node) []Node {
		var list []Node
		for _, n := range nodes {
			n = r.node(n)
			switch x := n.(type) {
			case Recv:
				x.AfterSend = x.AfterSend != isIt()
				n = x
			case RecvReduce:
				x.AfterSend = x.AfterSend != isIt()
				n = x
			case Step:
				if isIt() {
					continue
				}
			}
			list = append(list, n)
		}
		return list
	}
	changed := r.algorithm(a)
	return changed, i < 0
}
