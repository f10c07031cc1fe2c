package commtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestAllocAmount: different amounts on the ranks, and none; too many elements are refused before anybody hears of it,
// and too much memory on one rank is an error on all of them and does no harm.
func TestAllocAmount(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			errs := fasttest.OnAll(all, func(c *fast.Comm) error {
				for _, n := range []int{-1, math.MaxInt, math.MaxInt/8 + 1} {
					if b, err := fast.Alloc[float64](t.Context(), c, n); !errors.Is(err, fast.ErrInvalidArgument) || b != nil {
						return fmt.Errorf("%d elements: %v", n, err)
					}
				}
				n := 1000
				if c.Rank() == 1 {
					n = math.MaxInt >> 3 // 1 EiB
				}
				if b, err := fast.Alloc[byte](t.Context(), c, n); err == nil || b != nil || !strings.Contains(err.Error(),
					"cannot allocate memory") {
					return fmt.Errorf("more than there is: %v", err)
				}
				b, err := fast.Alloc[complex128](t.Context(), c, c.Rank()*100_000)
				if err != nil || len(b) != c.Rank()*100_000 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%exec.CacheLine != 0 {
					return fmt.Errorf("%d elements: %w", len(b), err)
				}
				return fast.Barrier(t.Context(), c)
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
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			if err := errors.Join(fasttest.OnAll(all, freeOnce)...); err != nil {
				t.Error(err)
			}
			fasttest.CloseAll(t, all)
			if err := fast.Free(all[0], []int{1}); !errors.Is(err, fast.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
			if _, err := fast.Alloc[int](t.Context(), all[0], 1); !errors.Is(err, fast.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
	if _, err := fast.Alloc[int](t.Context(), nil, 1); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Error(err)
	}
	if err := fast.Free(nil, []int{1}); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Error(err)
	}
}

func freeOnce(c *fast.Comm) error {
	b, err := fast.Alloc[int](context.Background(), c, 10)
	if err != nil {
		return err
	}
	empty, err := fast.Alloc[int](context.Background(), c, 0)
	if err != nil {
		return err
	}
	for what, x := range map[string][]int{"nil": nil, "a part": b[:9], "the rest": b[1:],
		"other memory": make([]int, 10)} {
		if err := fast.Free(c, x); !errors.Is(err, fast.ErrInvalidArgument) {
			return fmt.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(fast.Free(c, empty), fast.Free(c, b)); err != nil {
		return err
	}
	if err := fast.Free(c, b); !errors.Is(err, fast.ErrInvalidArgument) {
		return fmt.Errorf("again: %v", err)
	}
	return fast.Barrier(context.Background(), c)
}

// TestCloseDuringCall: memory stays while a call uses it that runs in another goroutine when the communicator is
// closed.
func TestCloseDuringCall(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			for range fasttest.Tries(t, 20, 500) {
				all := w.Comms(t, 2)
				if err := errors.Join(fasttest.OnAll(all, func(c *fast.Comm) error {
					b, err := fast.Alloc[float64](t.Context(), c, 200_000)
					if err != nil {
						return err
					}
					time.AfterFunc(time.Duration(c.Rank()+1)*500*time.Microsecond, func() { _ = c.Close() })
					for err == nil { // until it is closed, by this rank or the other one
						err = fast.AllReduce(context.Background(), c, b, fast.Max, fast.WithAlgorithm("two-shot"))
					}
					return nil
				})...); err != nil {
					t.Error(err)
				}
				fasttest.CloseAll(t, all)
			}
		})
	}
}
