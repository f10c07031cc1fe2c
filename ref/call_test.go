package ref

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"pgregory.net/rapid"
)

// TestRun: every primitive's result is what its specification says, block by block.
func TestRun(t *testing.T) {
	for _, p := range spec.Primitives() {
		if p.IsUneven() {
			t.Run(p.Name, func(t *testing.T) { rapid.Check(t, runsUneven(p)) })
			continue
		}
		t.Run(p.Name+"/int16", func(t *testing.T) { rapid.Check(t, runs[int16](p)) })
		t.Run(p.Name+"/float32", func(t *testing.T) { rapid.Check(t, runs[float32](p)) })
	}
}

func runsUneven(p spec.Primitive) func(*rapid.T) {
	return func(t *rapid.T) {
		c := spectest.Calls(p).Draw(t, "call")
		e, err := spec.Expect(p, c)
		if err != nil {
			t.Fatal(err)
		}
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 3), c.Size, c.Size), c.Size, c.Size)
		x := spectest.Example{Counts: rows.Draw(t, "counts")}
		in, next := make([][]int32, c.Size), int32(1)
		for rank, r := range e.Ranks {
			in[rank] = make([]int32, x.Start(r.InLengths, len(r.In)))
			for i := range in[rank] {
				in[rank][i] = next
				next = next*5 + 1
			}
		}
		got, err := Call[int32]{In: in, Op: spec.OpSum, Root: c.Root, Peer: c.Peer, Counts: x.Counts}.Run(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for rank, r := range e.Ranks {
			var want []int32
			for b, content := range r.Out {
				sum := make([]int32, x.Start(r.OutLengths, b+1)-x.Start(r.OutLengths, b))
				for _, term := range content.Terms {
					for i := range sum {
						sum[i] += in[term.Rank][x.Start(e.Ranks[term.Rank].InLengths, term.Block)+i]
					}
				}
				want = append(want, sum...)
			}
			if !slices.Equal(got[rank], want) {
				t.Fatalf("rank %d: got %v, want %v", rank, got[rank], want)
			}
		}
	}
}

func runs[T Elem](p spec.Primitive) func(*rapid.T) {
	return func(t *rapid.T) {
		c := spectest.Calls(p).Draw(t, "call")
		count := spectest.Counts(c.Size).Draw(t, "count")
		in := spectest.Inputs[T](p, c, count).Draw(t, "in")
		op := spectest.Ops(spec.TypeOf[T]()).Draw(t, "op")
		before := raw(in...)
		e, err := spec.Expect(p, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Call[T]{In: in, Op: op, Root: c.Root, Peer: c.Peer}.Run(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for rank, r := range e.Ranks {
			if want := blocks(r.Out, op, in, count); raw(got[rank]) != raw(want) {
				t.Fatalf("%s, rank %d: got %v, want %v", p.Name, rank, got[rank], want)
			}
			for i := range got[rank] {
				got[rank][i] = *new(T) // if this were the memory of an input, that would show now
			}
		}
		if raw(in...) != before {
			t.Fatalf("%s: an input has changed, or is an output's memory", p.Name)
		}
	}
}

// raw returns the memory of slices, one after the other.
func raw[T Elem](xs ...[]T) string {
	var all []byte
	for _, x := range xs {
		all = append(all, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))),
			uintptr(len(x))*unsafe.Sizeof(*new(T)))...)
	}
	return string(all)
}

// blocks returns what a buffer holds in the order of the operands that the specification lists.
func blocks[T Elem](contents []spec.Content, op spec.Op, in [][]T, count int) []T {
	var all []T
	for _, c := range contents {
		for i := range count {
			var x T
			for n, term := range c.Terms {
				v := in[term.Rank][term.Block*count+i]
				if n == 0 {
					x = v
				} else {
					x = Combine(op, x, v)
				}
			}
			if c.Kind == spec.Fold {
				x = Finish(op, x, len(in))
			}
			all = append(all, x)
		}
	}
	return all
}

func TestRunUnknown(t *testing.T) {
	for _, name := range []string{"", "Shuffle", "Run", "reduce"} {
		if _, err := (Call[int8]{}).Run(name); err == nil || !strings.Contains(err.Error(), "no primitive") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
