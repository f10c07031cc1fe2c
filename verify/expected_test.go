package verify_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify"
	"pgregory.net/rapid"
)

// expected is one call, and what it has to leave on each rank.
type expected struct {
	variant
	calls []rankCall
	want  []rankResult
}

// expect draws the inputs of v and plays its schedule. It fails t where the result is not the reference's, though it
// should be.
func (of[T]) expect(t *rapid.T, v variant) expected {
	c := spec.Call{Size: v.p.Size, Root: v.p.Root, Peer: v.p.Peer}
	in, after, out := make([][]T, c.Size), make([][]T, c.Size), make([][]T, c.Size)
	if !v.a.Primitive.In.Blocks.IsAbsent() {
		in = spectest.Inputs[T](v.a.Primitive, c, v.count).Draw(t, "in")
	}
	s, err := gen.Instantiate(v.a, v.p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := spec.Expect(v.a.Primitive, c)
	if err != nil {
		t.Fatal(err)
	}
	for r := range x.Ranks {
		after[r], out[r] = slices.Clone(in[r]), make([]T, len(x.Ranks[r].Out)*v.count)
	}
	if err := verify.Play(s, v.count, after, out, arithmetic[T](v.op, c.Size)); err != nil {
		t.Fatal(err)
	}
	if err := compareWithReference(s, v.op, in, out); err != nil {
		t.Fatal(err)
	}
	e := expected{variant: v}
	for r := range x.Ranks {
		call, want := v.rankCall(&x.Ranks[r]), rankResult{In: raw(plain(after[r])), Out: raw(plain(out[r]))}
		call.In, call.OutBytes = raw(in[r]), len(want.Out)
		if v.inPlace && x.Ranks[r].InBlock >= 0 {
			overlay(&call, &want)
		}
		e.calls, e.want = append(e.calls, call), append(e.want, want)
	}
	return e
}

// arithmetic is the reference's.
func arithmetic[T spec.Elem](op spec.Op, size int) verify.Arith[T] {
	return verify.Arith[T]{
		Combine: func(a, b T) T { return ref.Combine(op, a, b) },
		Finish:  func(v T) T { return ref.Finish(op, v, size) },
	}
}

// rankCall is a rank's part of v, apart from its data.
func (v *variant) rankCall(rank *spec.RankExpectation) rankCall {
	c := rankCall{Primitive: v.a.Primitive.Name, Op: v.op, Type: v.ty, Root: v.p.Root, Peer: v.p.Peer,
		HasIn: len(rank.In) > 0, HasOut: len(rank.Out) > 0, InPlace: v.inPlace}
	if !v.byTable {
		c.Algorithm, c.Depth = v.a.Name, v.p.Depth
	}
	if rank.InBlock >= 0 {
		block := v.count * v.ty.Bytes()
		c.InAt, c.OutAt = rank.InBlock*block, rank.OutBlock*block
	}
	return c
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
