package bench

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
)

// wrongIn returns what a check of one trial of float32 finds on each rank, when the call is followed by a fault.
func wrongIn(t *testing.T, name string, ranks, count int, inPlace bool, fault func(b *buffers[float32])) []int {
	t.Helper()
	o, _ := OperationNamed(name)
	found := make([]int, ranks)
	err := fast.Run(t.Context(), ranks, func(ctx context.Context, c *fast.Comm) error {
		f, _ := ReductionNamed("sum")
		one := &Case{Operation: o, Element: Elements[0], Count: count, Root: ranks - 1, InPlace: inPlace, Placement: GoHeap}
		if o.reduces {
			one.Reduction = &f
		}
		l, err := one.Load(ctx, c)
		if err != nil {
			return err
		}
		b := l.(*buffers[float32])
		right := b.invoke
		b.invoke = func(ctx context.Context, v *invocation[float32], opts []fast.Option) error {
			err := right(ctx, v, opts)
			fault(b)
			return err
		}
		for range 3 { // other values each time
			n, err := b.check(ctx)
			if err != nil {
				return err
			}
			found[c.Rank()] = n
		}
		return b.Free()
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// everyTrial calls f for all operations, some sizes, and both places.
func everyTrial(f func(name string, ranks, count int, inPlace bool)) {
	for _, o := range Operations {
		for _, ranks := range []int{2, 3, 5} {
			for _, count := range []int{1, 2, 17, period, period + 1, 3*period - 1} {
				if o.Width(ranks) > 0 {
					f(o.Name, ranks, count, false)
					if !o.apart {
						f(o.Name, ranks, count, true)
					}
				}
			}
		}
	}
}

func TestWhatIsRightIsNotWrong(t *testing.T) {
	everyTrial(func(name string, ranks, count int, inPlace bool) {
		for rank, n := range wrongIn(t, name, ranks, count, inPlace, func(*buffers[float32]) {}) {
			if n != 0 {
				t.Errorf("%s, count %d, in place %v: rank %d of %d has %d wrong elements", name, count, inPlace, rank, ranks, n)
			}
		}
	})
}

// TestOneWrongElementIsFound changes the last element of each buffer that may not have been changed so.
func TestOneWrongElementIsFound(t *testing.T) {
	everyTrial(func(name string, ranks, count int, inPlace bool) {
		for _, fault := range []struct {
			name string
			in   func(b *buffers[float32]) []float32
		}{
			{"out", func(b *buffers[float32]) []float32 { return b.out }},
			{"in", func(b *buffers[float32]) []float32 { return b.in }},
		} {
			for rank, n := range wrongIn(t, name, ranks, count, inPlace, func(b *buffers[float32]) {
				s := fault.in(b)
				s[len(s)-1]++
			}) {
				if n != 1 && !unpassed(name, rank, ranks, inPlace, fault.name) {
					t.Errorf("%s, count %d, in place %v: rank %d of %d has %d wrong elements in %s, want 1",
						name, count, inPlace, rank, ranks, n, fault.name)
				}
			}
		}
	})
}

// unpassed reports whether the last element of a buffer is out of the call's reach: in place, a rank other than the
// root of a gather passes nothing but its own block.
func unpassed(name string, rank, ranks int, inPlace bool, buffer string) bool {
	return strings.TrimSuffix(name, "-v") == "gather" && inPlace && rank != ranks-1 && buffer == "out"
}

// TestOptions: calls have the options that a case asks for, also after others were forced.
func TestOptions(t *testing.T) {
	allReduce, _ := OperationNamed("all-reduce")
	sum, _ := ReductionNamed("sum")
	ring, deep, reproducible := fast.WithAlgorithm("ring"), fast.WithDepth(2), fast.Reproducible()
	if err := fast.Run(t.Context(), 1, func(ctx context.Context, c *fast.Comm) error {
		for _, x := range []struct {
			algorithm    string
			depth        int
			reproducible bool
			want         []fast.Option
		}{
			{"", 0, false, nil}, {"", 0, true, []fast.Option{reproducible}}, {"ring", 0, false, []fast.Option{ring}},
			{"ring", 2, true, []fast.Option{reproducible, ring, deep}},
		} {
			one := &Case{Operation: allReduce, Element: Elements[0], Reduction: &sum, Count: 1, Placement: GoHeap,
				Algorithm: x.algorithm, Depth: x.depth, Reproducible: x.reproducible}
			l, err := one.Load(ctx, c)
			if err != nil {
				return err
			}
			for range 2 {
				if got := l.(*buffers[float32]).options; !reflect.DeepEqual(got, x.want) {
					t.Errorf("%+v: the options are %+v", x, got)
				}
				l.Force("tree", 1)
				l.Force(x.algorithm, x.depth)
			}
			if err := l.Free(); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestAnotherRanksValuesAreWrong: neither a block in another's place nor an operand that counts twice passes.
func TestAnotherRanksValuesAreWrong(t *testing.T) {
	swapped := func(b *buffers[float32]) {
		fill(b.out[:b.Count], b.values.inputs, b.shift+offset*1) // rank 1's where rank 0's belong
	}
	for _, n := range wrongIn(t, "all-gather", 3, 100, false, swapped) {
		if n < 50 {
			t.Errorf("of 100 elements of another rank %d are wrong", n)
		}
	}
	twice := func(b *buffers[float32]) {
		for i := range b.out {
			b.out[i] += b.in[i]
		}
	}
	for _, n := range wrongIn(t, "all-reduce", 3, 100, false, twice) {
		if n < 50 {
			t.Errorf("of 100 elements that count twice %d are wrong", n)
		}
	}
	if stale := wrongIn(t, "all-reduce", 2, 100, false, func(b *buffers[float32]) {
		fill(b.out, b.values.results, b.shift-1)
	}); stale[0] < 50 {
		t.Errorf("of 100 elements of the call before %d are wrong", stale[0])
	}
}
