package verify_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/interp"
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
	step := v.step(t)
	calls, err := step.Arrange(v.p.Size)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduleOf(v.a, v.p)
	if err != nil {
		t.Fatal(err)
	}
	in, after, out := make([][]T, s.Size), make([][]T, s.Size), make([][]T, s.Size)
	for r, c := range calls {
		if c != nil {
			in[r], out[r] = slices.Clone(colltest.As[T](c.In())), slices.Clone(colltest.As[T](c.Out()))
			after[r] = slices.Clone(in[r])
		}
	}
	play := func() error { return interp.Run(s.Schedule, v.count, after, out, arithmetic[T](v.op, s.Size)) }
	if v.lengths != nil {
		play = func() error {
			return interp.RunUneven(s.Schedule, func(l spec.Length) int { return v.lengths[l] }, after, out,
				arithmetic[T](v.op, s.Size))
		}
	}
	if err := play(); err != nil {
		t.Fatal(err)
	}
	if err := compareWithReference(s, v.op, v.table(), in, out); err != nil {
		t.Fatal(err)
	}
	e := expected{variant: v}
	for r, c := range calls {
		call, want := v.rankCall(c), rankResult{}
		if c != nil {
			left := c.Clone()
			copy(colltest.As[T](left.In()), after[r])
			copy(colltest.As[T](left.Out()), out[r]) // in place, what they share is Out
			want.Memory = call.plain(left.Memory)
		}
		e.calls, e.want = append(e.calls, call), append(e.want, want)
	}
	return e
}

// knownSchedule is a schedule, and which order of operands it is proved to have.
type knownSchedule struct {
	*gen.Schedule
	order func() (spec.Order, error)
}

// schedules are those of calls that were drawn, by their algorithm and parameters: thousands of calls, of other types
// and with other ops, have the same few. Nothing changes them.
var schedules sync.Map

// scheduleOf returns the schedule of a call of an algorithm of the catalogue.
func scheduleOf(a *gen.Algorithm, p gen.Params) (*knownSchedule, error) {
	type call struct {
		algorithm string
		gen.Params
	}
	if known, ok := schedules.Load(call{a.FullName(), p}); ok {
		return known.(*knownSchedule), nil
	}
	s, err := gen.Instantiate(a, p)
	if err != nil {
		return nil, err
	}
	known := &knownSchedule{s, sync.OnceValues(func() (spec.Order, error) {
		proved, err := verify.Schedule(s, false)
		return proved.Order, err
	})}
	schedules.Store(call{a.FullName(), p}, known)
	return known, nil
}

// table returns how long uneven blocks are, as package ref takes it; nil if all are equally long.
func (v *variant) table() (table [][]int) {
	if v.lengths == nil {
		return nil
	}
	for i := range v.p.Size {
		row := make([]int, v.p.Size)
		for j := range row {
			row[j] = v.lengths[spec.Length{i, j}]
		}
		table = append(table, row)
	}
	return table
}

// arithmetic returns the reference's.
func arithmetic[T spec.Elem](op spec.Op, size int) interp.Arith[T] {
	return interp.Arith[T]{
		Combine: func(a, b T) T { return ref.Combine(op, a, b) },
		Finish:  func(v T) T { return ref.Finish(op, v, size) },
	}
}

// rankCall returns a rank's part of v; c is nil if it takes none.
func (v *variant) rankCall(c *colltest.Call) (x rankCall) {
	if c == nil {
		return x
	}
	x.Call = *c
	if !v.byTable {
		x.Algorithm, x.Depth = v.a.Name, v.p.Depth
	}
	return x
}

// compareWithReference compares what was played with the reference, unless the bits depend on the order of the operands
// and s has another one than the reference's left fold.
func compareWithReference[T spec.Elem](s *knownSchedule, op spec.Op, lengths [][]int, in, out [][]T) error {
	if spec.TypeOf[T]() > spec.TypeUint64 && slices.Contains(s.Primitive.Params, spec.ParamOp) {
		if order, err := s.order(); err != nil || order < spec.RankOrdered {
			return err
		}
	}
	want, err := ref.Call[T]{In: in, Op: op, Root: s.Root, Peer: s.Peer, Counts: lengths}.Run(s.Primitive.Name)
	if err != nil {
		return err
	}
	for r := range want {
		if !bytes.Equal(plain(want[r]), plain(out[r])) {
			return fmt.Errorf("%s, rank %d: the schedule leaves %v, the reference %v", s.Algorithm, r, out[r], want[r])
		}
	}
	return nil
}

// plain returns the memory of a copy of s, with one pattern for all NaNs.
func plain[T spec.Elem](s []T) []byte {
	t := spec.TypeOf[T]()
	memory := colltest.Aligned(len(s) * t.Bytes())
	copy(colltest.As[T](memory), s)
	colltest.PlainNaN(t, memory)
	return memory
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
		{catalogue.AllReduceOneShot, leftFold, true}, {catalogue.AllReduceOneShot, rightFold, false},
		{catalogue.AllReduceTwoShot, leftFold, true}, {catalogue.AllReduceTwoShot, rightFold, false},
		{catalogue.AllReduceRing, rightFold, true},
	} {
		s, err := scheduleOf(&test.a, gen.Params{Size: 3, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = compareWithReference(s, spec.OpSum, nil, in, [][]float32{test.out, test.out, test.out})
		if (err == nil) != test.isRight {
			t.Errorf("%s leaves %v: %v", s.Algorithm, test.out, err)
		}
	}
}
