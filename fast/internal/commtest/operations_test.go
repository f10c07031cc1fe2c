package commtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
)

// TestAlloc has every operation work on memory of Alloc, on all transports: whole, parts of it, misaligned against
// pages.
func TestAlloc(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprint(w.Name, " ", size), func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				if err := errors.Join(fasttest.OnAll(all, func(c *fast.Comm) error {
					for _, count := range []int{0, 1, 1000, 70_001} {
						b, err := operation.NewBuffers(t.Context(), c, count)
						if err != nil {
							return err
						}
						for seed := range fasttest.Unless(fasttest.Soaking(), 1, 3) {
							if err := b.Operate(t.Context(), c, seed); err != nil {
								return err
							}
						}
						if err := b.Free(c); err != nil {
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

// TestCrowd uses one communicator from 64 goroutines at once. Whatever comes of each call, all of them end, and not all
// are refused: on each rank one comes first.
func TestCrowd(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var mu sync.Mutex
			ends := map[string]int{}
			for _, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				var users sync.WaitGroup
				for range 64 {
					users.Go(func() {
						err := operation.All[rand.IntN(len(operation.All))].Run(ctx, c, 100, 0)
						mu.Lock()
						defer mu.Unlock()
						ends[endOf(err)]++
					})
				}
				users.Wait()
				return c.Close() // a call that another rank has waits for one that this rank makes no more
			}) {
				if err != nil {
					t.Error(err)
				}
			}
			t.Log(ends)
			if ends["wrong"] > 0 || ends["other"] > 0 || ends["right"]+ends["mismatch"] == 0 || ctx.Err() != nil {
				t.Errorf("%v, %v", ends, ctx.Err())
			}
		})
	}
}

// TestQueue has 64 goroutines use one communicator, of which each waits until the one before is done: all calls are
// right.
func TestQueue(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				var users sync.WaitGroup
				var mu sync.Mutex
				var errs []error // of all calls, in their order
				for range 64 {
					users.Go(func() {
						mu.Lock()
						defer mu.Unlock()
						k := len(errs)
						errs = append(errs, operation.All[k%len(operation.All)].Run(t.Context(), c, 100, k))
					})
				}
				users.Wait()
				return errors.Join(errs...)
			}))
			fasttest.CloseAll(t, all)
		})
	}
}

// endOf returns the kind of a call's end.
func endOf(err error) string {
	var wrong *fasttest.WrongResult
	var mismatch *fast.MismatchError
	switch {
	case err == nil:
		return "right"
	case errors.As(err, &wrong):
		return "wrong"
	case errors.Is(err, fast.ErrConcurrentUse):
		return "concurrent use"
	case errors.As(err, &mismatch):
		return "mismatch"
	case errors.Is(err, fast.ErrAborted), errors.Is(err, fast.ErrClosed):
		return "ended by the other rank"
	}
	return "other"
}

// TestManyCommunicators uses 64 communicators of one world at once, each from a goroutine of its own on every rank.
func TestManyCommunicators(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				many := make([]*fast.Comm, 64)
				for i := range many {
					var err error
					if many[i], err = c.Split(t.Context(), 0, -i*c.Rank()); err != nil {
						return fmt.Errorf("split %d: %w", i, err)
					}
				}
				errs := fasttest.OnAll(many, func(c *fast.Comm) error {
					for seed := range 20 {
						if err := operation.All[seed%len(operation.All)].Run(t.Context(), c, 100, seed); err != nil {
							return err
						}
					}
					return nil
				})
				fasttest.CloseAll(t, many)
				return errors.Join(errs...)
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestOverlappingGroups uses groups with ranks in common, all at once.
func TestOverlappingGroups(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 4)
			groups := [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 1, 0}, {0, 1, 2, 3}, {2}}
			for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				for _, ranks := range groups {
					if err := inGroup(t.Context(), c, ranks); err != nil {
						return fmt.Errorf("group %v: %w", ranks, err)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// inGroup makes this rank's part in a group of the given ranks, if it is one of them.
func inGroup(ctx context.Context, c *fast.Comm, ranks []int) error {
	for at, rank := range ranks {
		if rank != c.Rank() {
			continue
		}
		g, err := c.Group(ctx, ranks)
		if err != nil {
			return err
		}
		defer g.Close()
		if g.Rank() != at || g.Size() != len(ranks) {
			return fmt.Errorf("rank %d became %v, want rank %d", rank, g, at)
		}
		return operation.All[5].Run(ctx, g, 1000, 3)
	}
	return nil
}
