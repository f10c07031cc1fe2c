package verify_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify"
	"pgregory.net/rapid"
)

// The library that users import, on real data: what every call leaves on every rank is, bit for bit, what the declared
// schedule leaves there when it is played, and what the reference says, except for floats that are reduced in another order;
// nothing around the buffers is written. That holds for ranks in one process and for processes, for every algorithm, type, op, root and alignment, in
// place and not, started or not, however late a rank comes.

// world runs sequences of calls on one communicator.
type world interface {
	// run makes the calls one after the other; calls[i][r] is rank r's part of the i-th. The results are in the same order.
	run(calls [][]rankCall) ([][]rankResult, error)
}

// expected is one call, and what it has to leave on each rank.
type expected struct {
	calls []rankCall
	want  []rankResult
}

// drawCall draws a call on size ranks.
func drawCall(t *rapid.T, size int) expected {
	a := rapid.SampledFrom(algorithmsFor(size)).Draw(t, "algorithm")
	ty := spectest.Types().Draw(t, "type")
	switch ty {
	case spec.TypeInt8:
		return drawAs[int8](t, a, size)
	case spec.TypeInt16:
		return drawAs[int16](t, a, size)
	case spec.TypeInt32:
		return drawAs[int32](t, a, size)
	case spec.TypeInt64:
		return drawAs[int64](t, a, size)
	case spec.TypeUint8:
		return drawAs[uint8](t, a, size)
	case spec.TypeUint16:
		return drawAs[uint16](t, a, size)
	case spec.TypeUint32:
		return drawAs[uint32](t, a, size)
	case spec.TypeUint64:
		return drawAs[uint64](t, a, size)
	case spec.TypeFloat16:
		return drawAs[spec.Float16](t, a, size)
	case spec.TypeBFloat16:
		return drawAs[spec.BFloat16](t, a, size)
	case spec.TypeFloat32:
		return drawAs[float32](t, a, size)
	case spec.TypeFloat64:
		return drawAs[float64](t, a, size)
	case spec.TypeComplex64:
		return drawAs[complex64](t, a, size)
	}
	return drawAs[complex128](t, a, size)
}

// algorithmsFor are the algorithms of the catalogue that serve size.
func algorithmsFor(size int) []*gen.Algorithm {
	var all []*gen.Algorithm
	for _, a := range gen.Catalogue() {
		if len(a.Calls(size, 1)) > 0 {
			all = append(all, &a)
		}
	}
	return all
}

func drawAs[T spec.Elem](t *rapid.T, a *gen.Algorithm, size int) expected {
	op := spectest.Ops(spec.TypeOf[T]()).Draw(t, "op")
	count := rapid.OneOf(spectest.Counts(size), rapid.IntRange(0, 40), rapid.SampledFrom([]int{1021, 4099, 70001 / size})).Draw(t, "count")
	p := rapid.SampledFrom(a.Calls(size, depths(count)...)).Draw(t, "params")
	in := make([][]T, size)
	if !a.Primitive.In.Blocks.IsAbsent() {
		in = spectest.Inputs[T](a.Primitive, spec.Call{Size: size, Root: p.Root, Peer: p.Peer}, count).Draw(t, "in")
	}
	inPlace := !a.Primitive.InPlace.InBlock.IsAbsent() && rapid.Bool().Draw(t, "in place")
	e := expectation(t, a, p, count, op, in, inPlace)
	form, both := form(rapid.IntRange(0, int(forms)-1).Draw(t, "form")), rapid.Bool().Draw(t, "both")
	for r := range e.calls {
		e.calls[r].Form, e.calls[r].Both = form, both
		e.calls[r].Lead = rapid.IntRange(0, 17).Draw(t, "lead")
		if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
			e.calls[r].Delay = time.Duration(rapid.IntRange(0, 300).Draw(t, "µs")) * time.Microsecond
		}
	}
	return e
}

// depths are those that a call of count elements can have.
func depths(count int) []int {
	return slices.DeleteFunc([]int{1, 2, 3, 7}, func(d int) bool { return d > max(1, count) })
}

// expectation plays the schedule. It fails t where the result is not the reference's, though it should be.
func expectation[T spec.Elem](t *rapid.T, a *gen.Algorithm, p gen.Params, count int, op spec.Op, in [][]T, inPlace bool) expected {
	s, err := gen.Instantiate(a, p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := spec.Expect(a.Primitive, spec.Call{Size: p.Size, Root: p.Root, Peer: p.Peer})
	if err != nil {
		t.Fatal(err)
	}
	e := expected{calls: make([]rankCall, p.Size), want: make([]rankResult, p.Size)}
	after, out := make([][]T, p.Size), make([][]T, p.Size)
	for r := range e.calls {
		rank := &x.Ranks[r]
		after[r] = slices.Clone(in[r])
		out[r] = make([]T, len(rank.Out)*count)
		e.calls[r] = rankCall{
			Primitive: a.Primitive.Name, Algorithm: a.Name, Depth: p.Depth, Op: op, Type: spec.TypeOf[T](), Root: p.Root, Peer: p.Peer,
			In: raw(in[r]), HasIn: len(rank.In) > 0, HasOut: len(rank.Out) > 0, OutBytes: len(out[r]) * size[T](), InPlace: inPlace,
		}
		if rank.InBlock >= 0 {
			e.calls[r].InAt, e.calls[r].OutAt = rank.InBlock*count*size[T](), rank.OutBlock*count*size[T]()
		}
	}
	arith := verify.Arith[T]{
		Combine: func(a, b T) T { return ref.Combine(op, a, b) },
		Finish:  func(v T) T { return ref.Finish(op, v, p.Size) },
	}
	if err := verify.Play(s, count, after, out, arith); err != nil {
		t.Fatal(err)
	}
	if err := compareWithReference(s, op, in, out); err != nil {
		t.Fatal(err)
	}
	for r := range e.want {
		e.want[r] = rankResult{In: raw(plain(after[r])), Out: raw(plain(out[r]))}
		if inPlace && x.Ranks[r].InBlock >= 0 {
			overlay(&e.calls[r], &e.want[r])
		}
	}
	return e
}

// compareWithReference compares what was played with the reference, unless the bits depend on the order of the operands and
// s has another one than the reference's left fold.
func compareWithReference[T spec.Elem](s *gen.Schedule, op spec.Op, in, out [][]T) error {
	if spec.TypeOf[T]() > spec.TypeUint64 && slices.Contains(s.Primitive.Params, spec.ParamOp) {
		if proved, err := verify.Schedule(s, false); err != nil || proved.Order < spec.RankOrdered {
			return err
		}
	}
	want, err := ref.Call[T]{In: in, Op: op, Root: s.Root, Peer: s.Peer}.Run(s.Primitive.Name)
	if err != nil {
		return err
	}
	for r := range want {
		if !bytes.Equal(raw(plain(slices.Clone(want[r]))), raw(plain(slices.Clone(out[r])))) {
			return fmt.Errorf("%s, rank %d: the schedule leaves %v, the reference %v", s.Algorithm, r, out[r], want[r])
		}
	}
	return nil
}

// overlay makes of a result out of place what it is in place: Out's bytes are In's where the two are one memory.
func overlay(c *rankCall, r *rankResult) {
	for i := range r.In {
		if at := i - c.InAt + c.OutAt; at >= 0 && at < len(r.Out) {
			r.In[i] = r.Out[at]
		}
	}
}

// differences says how the results differ from what was expected.
func differences(e expected, got []rankResult) string {
	var b strings.Builder
	for r, g := range got {
		w := e.want[r]
		switch {
		case g.Err != "":
			fmt.Fprintf(&b, "rank %d: %s\n", r, g.Err)
		case g.Strayed != "":
			fmt.Fprintf(&b, "rank %d: memory around a buffer was written to: %s\n", r, g.Strayed)
		case !bytes.Equal(plainBytes(g.Out, e.calls[r].Type), w.Out):
			fmt.Fprintf(&b, "rank %d: out is %v, want %v\n", r, brief(g.Out, w.Out), brief(w.Out, g.Out))
		case !bytes.Equal(plainBytes(g.In, e.calls[r].Type), w.In):
			fmt.Fprintf(&b, "rank %d: in is %v, want %v\n", r, brief(g.In, w.In), brief(w.In, g.In))
		}
	}
	return b.String()
}

func plainBytes(b []byte, t spec.Type) []byte {
	switch t {
	case spec.TypeFloat16:
		return raw(plain(typed[spec.Float16](b)))
	case spec.TypeBFloat16:
		return raw(plain(typed[spec.BFloat16](b)))
	case spec.TypeFloat32, spec.TypeComplex64:
		return raw(plain(typed[float32](b)))
	case spec.TypeFloat64, spec.TypeComplex128:
		return raw(plain(typed[float64](b)))
	}
	return b
}

// brief is b about the first byte in which it differs from other.
func brief(b, other []byte) string {
	i := 0
	for i < len(b) && i < len(other) && b[i] == other[i] {
		i++
	}
	return fmt.Sprintf("%d bytes, from byte %d on % x", len(b), i, b[i:min(i+16, len(b))])
}

// checkWorld draws up to so many calls and makes them, one after the other, on one communicator.
func checkWorld(size, calls int, w func() world) func(*rapid.T) {
	return func(t *rapid.T) {
		var drawn [][]rankCall
		var want []expected
		for range rapid.IntRange(1, calls).Draw(t, "calls") {
			e := drawCall(t, size)
			drawn, want = append(drawn, e.calls), append(want, e)
		}
		got, err := w().run(drawn)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range want {
			if d := differences(e, got[i]); d != "" {
				c := e.calls[0]
				t.Errorf("call %d: %s/%s of %d ranks, %v of %v, root %d, depth %d, in place %v, form %d, both %v:\n%s",
					i, c.Primitive, c.Algorithm, size, c.Op, c.Type, c.Root, c.Depth, c.InPlace, c.Form, c.Both, d)
			}
		}
	}
}

func TestInProcess(t *testing.T) {
	for size := range 9 {
		t.Run(fmt.Sprint(size+1), func(t *testing.T) {
			rapid.Check(t, checkWorld(size+1, 4, func() world { return goroutines(size + 1) }))
		})
	}
}

// TestProcesses draws all calls of one size for the same processes. More of these than there are processors take long:
// they make fewer calls.
func TestProcesses(t *testing.T) {
	for size := 1; size <= 9; size++ {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w, calls := startProcesses(t, size), 4
			if size > 4 {
				calls = 1
			}
			rapid.Check(t, checkWorld(size, calls, func() world { return w }))
		})
	}
}

func FuzzInProcess(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		size := rapid.IntRange(1, 9).Draw(t, "size")
		checkWorld(size, 4, func() world { return goroutines(size) })(t)
	}))
}

// TestCompareWithReference: sums of floats are compared where the proof says that their order is the reference's.
func TestCompareWithReference(t *testing.T) {
	in := [][]float32{{1 << 24, 1, 1}, {1, 1 << 24, 1}, {1, 1, 1 << 24}}
	leftFold, rightFold := []float32{1 << 24, 1 << 24, 1<<24 + 2}, []float32{1<<24 + 2, 1 << 24, 1 << 24}
	for _, test := range []struct {
		a       gen.Algorithm
		out     []float32
		isRight bool
	}{
		{gen.AllReduceOneShot, leftFold, true}, {gen.AllReduceOneShot, rightFold, false},
		{gen.AllReduceTwoShot, leftFold, true}, {gen.AllReduceTwoShot, rightFold, false},
		{gen.AllReduceRing, rightFold, true},
	} {
		s, err := gen.Instantiate(&test.a, gen.Params{Size: 3, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = compareWithReference(s, spec.OpSum, in, [][]float32{test.out, test.out, test.out})
		if (err == nil) != test.isRight {
			t.Errorf("%s leaves %v: %v", s.Algorithm, test.out, err)
		}
	}
}

// TestDifferences: every kind of wrong result is seen.
func TestDifferences(t *testing.T) {
	good := rankResult{In: []byte{1, 2}, Out: []byte{3, 4}}
	e := expected{calls: []rankCall{{Type: spec.TypeUint8}}, want: []rankResult{good}}
	if d := differences(e, []rankResult{good}); d != "" {
		t.Errorf("a right result: %s", d)
	}
	for _, bad := range []rankResult{
		{In: []byte{1, 3}, Out: []byte{3, 4}}, {In: []byte{1, 2}, Out: []byte{3, 5}}, {In: []byte{1, 2}},
		{In: []byte{1, 2}, Out: []byte{3, 4}, Err: "lost"}, {In: []byte{1, 2}, Out: []byte{3, 4}, Strayed: "element 2"},
	} {
		if differences(e, []rankResult{bad}) == "" {
			t.Errorf("%+v: not seen", bad)
		}
	}
	g := newGuarded[int16](3, 8)
	g.all[strip+3+4] = 0
	if g.strayed() == "" {
		t.Error("a write behind the buffer is not seen")
	}
}
