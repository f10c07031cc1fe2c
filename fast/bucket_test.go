package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/wire"
	"pgregory.net/rapid"
)

// TestBucket adds tensors of random lengths in several steps: all come back as their sums.
func TestBucket(t *testing.T) {
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 3).Draw(t, "size")
		bytes := rapid.SampledFrom([]int{8, 24, 100, 1000}).Draw(t, "bytes")
		steps := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 40), 0, 12), 1, 4).Draw(t, "lengths")
		all := comms(tb, size)
		defer leaveAll(all)
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			b, err := NewBucket[int64](c, Sum, bytes)
			for i := 0; err == nil && i < len(steps); i++ {
				err = addAll(context.Background(), c, b, steps[i])
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
	})
}

// addAll makes one step with tensors of these lengths.
func addAll(ctx context.Context, c *Comm, b *Bucket[int64], lengths []int) error {
	tensors := make([][]int64, len(lengths))
	for i, n := range lengths {
		tensors[i] = slices.Repeat([]int64{int64(100*i + c.Rank())}, n)
		if err := b.Add(ctx, tensors[i]); err != nil {
			return err
		}
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	for i, tensor := range tensors {
		want := int64(100*i*c.Size() + c.Size()*(c.Size()-1)/2)
		if !slices.Equal(tensor, slices.Repeat([]int64{want}, lengths[i])) {
			return fmt.Errorf("tensor %d is %v, want %d", i, tensor, want)
		}
	}
	return nil
}

// TestBucketFuses counts the calls that are made of many tensors.
func TestBucketFuses(t *testing.T) {
	c := newComm(0, 1, nil)
	defer c.Close()
	b, err := NewBucket[float32](c, Sum, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		lengths []int
		calls   uint64
	}{
		{nil, 0}, {[]int{1, 2, 3, 0}, 1}, {[]int{5, 5}, 1}, {[]int{5, 6}, 2}, {[]int{1, 11, 1, 11, 1}, 3},
		{[]int{10, 10, 10, 10, 10, 10}, 6},
	} {
		before := c.exec.Calls
		for _, n := range step.lengths {
			err = errors.Join(err, b.Add(t.Context(), make([]float32, n)))
		}
		if err := errors.Join(err, b.Wait(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := c.exec.Calls - before; got != step.calls {
			t.Errorf("%v: %d calls, want %d", step.lengths, got, step.calls)
		}
	}
}

// fusedLike is for a call that does what another rank's Bucket does.
func fusedLike(lengths ...int) Option {
	o := Option{Kind: exec.FusedOption, Fused: new(exec.Lengths)}
	for _, n := range lengths {
		o.Fused.Add(n)
	}
	return o
}

// TestBucketOverlaps starts the all-reduce of a full buffer before anybody waits, and goes on when a waiting has ended.
func TestBucketOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		defer leaveAll(all)
		b, err := NewBucket[int64](all[0], Sum, 16)
		if err != nil {
			t.Fatal(err)
		}
		x, y, z := []int64{1}, []int64{2}, []int64{4, 5, 6}
		if err := errors.Join(b.Add(t.Context(), x), b.Add(t.Context(), y)); err != nil {
			t.Fatal(err)
		}
		// it would wait for ever
		if err := AllReduce(t.Context(), all[1], []int64{10, 10}, Sum, fusedLike(1, 1)); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Add(t.Context(), z); err != nil {
			t.Error(err)
		}
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for a rank that does not come: %v", err)
		}
		err = errors.Join(AllReduce(t.Context(), all[1], []int64{10, 10, 10}, Sum, fusedLike(3)), b.Wait(t.Context()))
		if err != nil || x[0] != 11 || y[0] != 12 || !slices.Equal(z, []int64{14, 15, 16}) {
			t.Errorf("%v: %v, %v, %v", err, x, y, z)
		}
	})
}

// TestBucketFails is of no use after its communicator, or what it was made with, is not.
func TestBucketFails(t *testing.T) {
	if _, err := NewBucket[int64](newComm(0, 1, nil), Sum, math.MaxInt); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := NewBucket[int64](newComm(0, 1, nil), Sum, 7); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("no room for an element: %v", err)
	}
	c := newComm(0, 1, nil)
	b, err := NewBucket[float64](c, Sum, 80)
	if err := errors.Join(err, b.Add(t.Context(), []float64{1}), c.Close()); err != nil {
		t.Fatal(err)
	}
	first := b.Wait(t.Context())
	if !errors.Is(first, ErrClosed) || b.Wait(t.Context()) != first || b.Add(t.Context(), nil) != first {
		t.Errorf("a communicator that is closed: %v", first)
	}
}

// TestBucketRefuses what is no label of a tensor; the bucket is as before.
func TestBucketRefuses(t *testing.T) {
	c := newComm(0, 1, nil)
	defer c.Close()
	b, err := NewBucket[int64](c, Sum, 80)
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range [][]Option{{WithLabel("")}, {WithLabel(""), WithLabel("a")}, {WithLabel("\n"), {}},
		{WithAlgorithm("ring")}, {WithLabel("a"), WithDepth(2)}, {Reproducible(), WithLabel("a")}} {
		for _, n := range []int{0, 1, 11} {
			if err := b.Add(t.Context(), make([]int64, n), opts...); !errors.Is(err, ErrInvalidArgument) {
				t.Errorf("%d elements with %+v: %v", n, opts, err)
			}
		}
	}
	if err := b.Wait(t.Context()); err != nil || c.exec.Calls != 0 {
		t.Errorf("%d calls were made: %v", c.exec.Calls, err)
	}
}

// TestBucketAllocates nothing when it is used again.
func TestBucketAllocates(t *testing.T) {
	const runs = 50
	all := comms(t, 2)
	defer leaveAll(all)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := func(c *Comm) func() {
		b, err := NewBucket[float32](c, Avg, 4096)
		if err != nil {
			t.Fatal(err)
		}
		tensors := make([][]float32, 20)
		for i := range tensors {
			tensors[i] = make([]float32, 100*i)
		}
		return func() {
			for _, tensor := range tensors {
				if err := b.Add(ctx, tensor); err != nil {
					t.Error(err)
				}
			}
			if err := b.Wait(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	other, done := once(all[1]), make(chan struct{})
	go func() {
		defer close(done)
		for range countedCalls(runs) + 5 {
			other()
		}
	}()
	mine := once(all[0])
	for range 5 {
		mine()
	}
	if n := allocations(runs, mine); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
	<-done
}

// TestBucketCompares: ranks that have put tensors of other lengths into their buckets, or in another order, are told
// so, whether the sums of the lengths are the same or not.
func TestBucketCompares(t *testing.T) {
	for name, test := range map[string]struct {
		odd   []int // what rank 1 adds; the others 6, 2 and 4
		words string
	}{
		"swapped":        {[]int{2, 6, 4}, "Bucket 3: 2 6 4"},
		"a tensor less":  {[]int{6, 4}, "Bucket 2: 6 4"},
		"cut elsewhere":  {[]int{6, 3, 3}, "Bucket 3: 6 3 3"},
		"fused into one": {[]int{12}, "Bucket 1: 12"},
	} {
		for _, w := range worlds {
			t.Run(name+"/"+w.Name, func(t *testing.T) {
				all := w.Comms(t, 3)
				defer fasttest.CloseAll(t, all)
				errs := fasttest.OnAll(all, func(c *Comm) error {
					lengths := []int{6, 2, 4}
					if c.Rank() == 1 {
						lengths = test.odd
					}
					b, err := NewBucket[int64](c, Sum, 1000)
					for _, lengths := range [][]int{{5, 2}, {3}, {5, 2}, {4}, lengths} { // what it had before does not count
						if err == nil {
							err = addAll(t.Context(), c, b, lengths)
						}
					}
					return err
				})
				var mismatch *MismatchError
				if !errors.As(errors.Join(errs...), &mismatch) || mismatch.Field != "lengths" ||
					mismatch.Mine != test.words && mismatch.Theirs != test.words || errs[1] == nil {
					t.Errorf("%v", errs)
				}
			})
		}
	}
}

// TestBucketStaysFailed: a bucket whose all-reduce has failed gives that error for every Add and Wait from then on.
func TestBucketStaysFailed(t *testing.T) {
	for _, alone := range []bool{false, true} {
		all := comms(t, 2)
		b, err := NewBucket[int64](all[0], Sum, 1000)
		if err != nil {
			t.Fatal(err)
		}
		length := fasttest.Unless(alone, 3, 1000)
		errs := fasttest.OnAll(all, func(c *Comm) error {
			if c.Rank() == 1 {
				return AllReduce(t.Context(), c, make([]int64, 7), Sum)
			}
			return errors.Join(b.Add(t.Context(), make([]int64, length)), b.Wait(t.Context()))
		})
		first := b.err
		if !errors.As(errs[0], new(*MismatchError)) || first == nil || !errors.Is(errs[0], first) {
			t.Fatalf("the all-reduce: %v, kept is %v", errs[0], first)
		}
		for range 2 {
			for what, again := range map[string]error{
				"Add":       b.Add(t.Context(), make([]int64, length)),
				"empty Add": b.Add(t.Context(), nil),
				"Wait":      b.Wait(t.Context()),
			} {
				if again != first {
					t.Errorf("%s after a failure: %v, want %v", what, again, first)
				}
			}
		}
		leaveAll(all)
	}
}

// TestFused: what is compared is the lengths and their order, and the name is a whole number of them, however many
// there are.
func TestFused(t *testing.T) {
	marks := map[uint32][]int{}
	for _, lengths := range [][]int{nil, {1}, {2}, {1, 1}, {1, 2}, {2, 1}, {3}, {1, 1, 1}} {
		var f exec.Lengths
		for _, n := range lengths {
			f.Add(n)
		}
		if other, known := marks[f.Mark()]; known || f.Mark()&(1<<wire.OpBits-1) != 0 {
			t.Errorf("%v and %v are the same", lengths, other)
		}
		marks[f.Mark()] = lengths
	}
	var f exec.Lengths
	for i := range 1_000_000 {
		f.Add(100_000 + i)
	}
	if name := f.Label("Bucket").String(); name != "Bucket 1000000: 100000" {
		t.Errorf("%q", name)
	}
	f = exec.Lengths{}
	for _, n := range []int{1234, math.MaxInt / 9, 5} {
		f.Add(n)
	}
	if name := f.Label("Bucket").String(); name != "Bucket 3: 1234" {
		t.Errorf("%q", name)
	}
	f = exec.Lengths{}
	f.Add(math.MaxInt/2 + 1)
	if name := f.Label("Bucket").String(); name != "Bucket 1:" {
		t.Errorf("%q", name)
	}
}

// TestBucketGivesUp: a bucket one of whose all-reduces cannot be made gives its communicator up, because the other
// ranks go on. Otherwise another bucket's all-reduces would meet theirs.
func TestBucketGivesUp(t *testing.T) {
	for name, left := range map[string]int{"before the first": 0, "after the first": 1} {
		var seen error
		_ = Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
			b, err := NewBucket[int64](c, Sum, 8)
			if err != nil {
				return err
			}
			if c.Rank() == 0 {
				ended, cancel := context.WithCancel(ctx)
				for i := range 2 {
					limited := ctx
					if i >= left {
						cancel()
						limited = ended
					}
					_ = b.Add(limited, []int64{1})
				}
				err = b.Wait(ctx)
				cancel()
			} else {
				err = errors.Join(b.Add(ctx, []int64{1}), b.Add(ctx, []int64{1}), b.Wait(ctx))
			}
			if c.Rank() == 0 {
				if seen = err; c.State() == Healthy {
					t.Errorf("%s: the communicator is healthy after %v", name, err)
				}
			}
			return err
		})
		if !errors.Is(seen, context.Canceled) {
			t.Errorf("%s: %v", name, seen)
		}
	}
}
