package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/exec"
)

// TestAlloc has every operation work on memory of Alloc, on all transports: whole, parts of it, misaligned against
// pages.
func TestAlloc(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprint(w.name, " ", size), func(t *testing.T) {
				all := w.comms(t, size)
				defer closeAll(t, all)
				if err := errors.Join(onAll(all, func(c *Comm) error {
					for _, count := range []int{0, 1, 1000, 70_001} {
						b, err := newAllocated(t.Context(), c, count)
						if err != nil {
							return err
						}
						for seed := range unless(soaking(), 1, 3) {
							if err := b.operate(t.Context(), c, seed); err != nil {
								return err
							}
						}
						if err := b.free(c); err != nil {
							return err
						}
					}
					return nil
				})...); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// allocated is two buffers of a rank, which begin somewhere in memory of Alloc and have a block for each rank.
type allocated struct {
	wholes [2][]int
	a, b   []int
	count  int
}

func newAllocated(ctx context.Context, c *Comm, count int) (x allocated, err error) {
	for i := range x.wholes {
		n := count*c.Size() + i*3
		if x.wholes[i], err = Alloc[int](ctx, c, n); err != nil {
			return x, err
		}
		if got := x.wholes[i]; len(got) != n || cap(got) != n || slices.ContainsFunc(got, func(v int) bool { return v != 0 }) {
			return x, fmt.Errorf("%d elements, of %d, or not 0; want %d", len(got), cap(got), n)
		}
	}
	x.a, x.b, x.count = x.wholes[0], x.wholes[1][3:], count
	return x, nil
}

func (x *allocated) free(c *Comm) error {
	return errors.Join(Free(c, x.wholes[0]), Free(c, x.wholes[1]))
}

// operate makes calls that read and write the buffers, and checks what comes out.
func (x *allocated) operate(ctx context.Context, c *Comm, seed int) error {
	n, rank, size := x.count, c.Rank(), c.Size()
	refill := func() { copy(x.a, input(rank, n*size, seed)) }
	sum := func(i int) int { return total(size, i, seed) }
	for i := range allReduce.Algorithms {
		name := allReduce.Algorithms[i].Name
		refill()
		err := AllReduceInto(ctx, c, x.b, x.a, Sum, WithAlgorithm(name))
		if err = verified(err, x.b, sum); err == nil {
			err = verified(AllReduce(ctx, c, x.a, Sum, WithAlgorithm(name)), x.a, sum)
		}
		if err != nil {
			return fmt.Errorf("AllReduce by %s: %w", name, err)
		}
	}
	root, part := seed%size, x.a[n/2:]
	refill()
	if err := verified(Broadcast(ctx, c, part, root), part, func(i int) int { return element(root, n/2+i, seed) }); err != nil {
		return fmt.Errorf("Broadcast: %w", err)
	}
	refill()
	mine := x.b[:n]
	err := ReduceScatterInto(ctx, c, mine, x.a, Sum)
	if err := verified(err, mine, func(i int) int { return sum(rank*n + i) }); err != nil {
		return fmt.Errorf("ReduceScatter: %w", err)
	}
	err = AllGatherInto(ctx, c, x.b, x.a[:n])
	if err := verified(err, x.b, func(i int) int { return element(i/n, i%n, seed) }); err != nil {
		return fmt.Errorf("AllGather: %w", err)
	}
	err = AllToAllInto(ctx, c, x.b, x.a)
	if err := verified(err, x.b, func(i int) int { return element(i/n, rank*n+i%n, seed) }); err != nil {
		return fmt.Errorf("AllToAll: %w", err)
	}
	return nil
}

// TestAllocAmount: different amounts on the ranks, and none; too many elements are refused before anybody hears of it,
// and too much memory on one rank is an error on all of them and does no harm.
func TestAllocAmount(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 3)
			defer closeAll(t, all)
			errs := onAll(all, func(c *Comm) error {
				for _, n := range []int{-1, math.MaxInt, math.MaxInt/8 + 1} {
					if b, err := Alloc[float64](t.Context(), c, n); !errors.Is(err, ErrInvalidArgument) || b != nil {
						return fmt.Errorf("%d elements: %v", n, err)
					}
				}
				n := 1000
				if c.Rank() == 1 {
					n = math.MaxInt >> 3 // 1 EiB
				}
				if b, err := Alloc[byte](t.Context(), c, n); err == nil || b != nil || !strings.Contains(err.Error(), "cannot allocate memory") {
					return fmt.Errorf("more than there is: %v", err)
				}
				b, err := Alloc[complex128](t.Context(), c, c.Rank()*100_000)
				if err != nil || len(b) != c.Rank()*100_000 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%exec.CacheLine != 0 {
					return fmt.Errorf("%d elements: %w", len(b), err)
				}
				return Barrier(t.Context(), c)
			})
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFree gives back what Alloc has returned, once, and nothing else.
func TestFree(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 2)
			if err := errors.Join(onAll(all, freeOnce)...); err != nil {
				t.Error(err)
			}
			closeAll(t, all)
			if err := Free(all[0], []int{1}); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
			if _, err := Alloc[int](t.Context(), all[0], 1); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
	if _, err := Alloc[int](t.Context(), nil, 1); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
	if err := Free(nil, []int{1}); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
}

func freeOnce(c *Comm) error {
	b, err := Alloc[int](context.Background(), c, 10)
	if err != nil {
		return err
	}
	empty, err := Alloc[int](context.Background(), c, 0)
	if err != nil {
		return err
	}
	for what, x := range map[string][]int{"nil": nil, "a part": b[:9], "the rest": b[1:], "other memory": make([]int, 10)} {
		if err := Free(c, x); !errors.Is(err, ErrInvalidArgument) {
			return fmt.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(Free(c, empty), Free(c, b)); err != nil {
		return err
	}
	if err := Free(c, b); !errors.Is(err, ErrInvalidArgument) {
		return fmt.Errorf("again: %v", err)
	}
	return Barrier(context.Background(), c)
}

// TestFreeDuringCall is refused: the call may use the memory.
func TestFreeDuringCall(t *testing.T) {
	all := comms(2)
	defer closeAll(t, all)
	errs := onAll(all, func(c *Comm) error {
		b, err := Alloc[int](t.Context(), c, 10)
		if err != nil || c.Rank() == 1 {
			return errors.Join(err, Barrier(t.Context(), c), Barrier(t.Context(), c))
		}
		h := StartBarrier(t.Context(), c)
		if err := h.Wait(t.Context()); err != nil {
			return err
		}
		c.busy.Set()
		if err := Free(c, b); !errors.Is(err, ErrConcurrentUse) {
			return fmt.Errorf("during a call: %v", err)
		}
		c.busy.Unset()
		c.starts().pending.Add(1)
		if err := Free(c, b); !errors.Is(err, ErrConcurrentUse) {
			return fmt.Errorf("before a call that was started: %v", err)
		}
		c.starts().pending.Add(-1)
		return errors.Join(Free(c, b), Barrier(t.Context(), c))
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestCloseDuringCall: memory stays while a call uses it that runs in another goroutine when the communicator is
// closed.
func TestCloseDuringCall(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for range tries(t, 20, 500) {
				all := w.comms(t, 2)
				if err := errors.Join(onAll(all, func(c *Comm) error {
					b, err := Alloc[float64](t.Context(), c, 200_000)
					if err != nil {
						return err
					}
					time.AfterFunc(time.Duration(c.Rank()+1)*500*time.Microsecond, func() { _ = c.Close() })
					for err == nil { // until it is closed, by this rank or the other one
						err = AllReduce(context.Background(), c, b, Max, WithAlgorithm("two-shot"))
					}
					return nil
				})...); err != nil {
					t.Error(err)
				}
				closeAll(t, all)
			}
		})
	}
}
