package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestAllocAmount: different amounts on the ranks, and none; too many elements are refused before anybody hears of it,
// and too much memory on one rank is an error on all of them and does no harm.
func TestAllocAmount(t *testing.T) {
	for _, w := range Worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			errs := fasttest.OnAll(all, func(c *Comm) error {
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
	for _, w := range Worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			if err := errors.Join(fasttest.OnAll(all, freeOnce)...); err != nil {
				t.Error(err)
			}
			fasttest.CloseAll(t, all)
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
	defer fasttest.CloseAll(t, all)
	errs := fasttest.OnAll(all, func(c *Comm) error {
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
	for _, w := range Worlds {
		t.Run(w.Name, func(t *testing.T) {
			for range fasttest.Tries(t, 20, 500) {
				all := w.Comms(t, 2)
				if err := errors.Join(fasttest.OnAll(all, func(c *Comm) error {
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
				fasttest.CloseAll(t, all)
			}
		})
	}
}
