package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// testWorld makes the ranks of communicators, all in this process, that talk in one way.
type testWorld struct {
	name  string
	comms func(t testing.TB, size int) []*Comm
}

// worlds are all ways in which ranks talk.
var worlds = []testWorld{
	{"goroutines", func(_ testing.TB, size int) []*Comm { return comms(size) }},
	{"shm", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("shm")) }},
	{"tcp", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("tcp")) }},
	{"tcp, encrypted", func(t testing.TB, size int) []*Comm {
		return initComms(t, size, WithTransport("tcp"), WithEncryption())
	}},
	{"mixed", func(t testing.TB, size int) []*Comm { return initComms(t, size, oddAndEven) }},
}

// oddAndEven has ranks believe that there are two hosts.
func oddAndEven(p *initConfig) { p.Host = fmt.Sprint("host ", p.Rank%2) }

// initComms returns ranks that Init connects.
func initComms(t testing.TB, size int, opts ...InitOption) []*Comm {
	meeting := NewMemoryStore()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return begin(t, size, func(rank int) (*Comm, error) {
		return Init(ctx, append([]InitOption{WithRank(rank, size), WithStore(meeting)}, opts...)...)
	})
}

// begin has all ranks come to a communicator at once.
func begin(t testing.TB, size int, f func(rank int) (*Comm, error)) []*Comm {
	t.Helper()
	all, errs := make([]*Comm, size), make([]error, size)
	var begins sync.WaitGroup
	for rank := range all {
		begins.Go(func() { all[rank], errs[rank] = f(rank) })
	}
	begins.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return all
}

// again returns a new communicator of the ranks of each of all, for a test that spoils it.
func again(t testing.TB, all []*Comm) []*Comm {
	t.Helper()
	more := make([]*Comm, len(all))
	if err := errors.Join(onAll(all, func(c *Comm) (err error) {
		more[c.Rank()], err = c.Dup(t.Context())
		return err
	})...); err != nil {
		t.Fatal(err)
	}
	return more
}

// TestCrowd uses one communicator from 64 goroutines at once. Whatever comes of each call, all of them end, and not all
// are refused: on each rank one comes first.
func TestCrowd(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 2)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var mu sync.Mutex
			ends := map[string]int{}
			for _, err := range onAll(all, func(c *Comm) error {
				var users sync.WaitGroup
				for range 64 {
					users.Go(func() {
						err := operations[rand.IntN(len(operations))].run(ctx, c, 100, 0)
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
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 3)
			checkErrors(t, onAll(all, func(c *Comm) error {
				var users sync.WaitGroup
				var mu sync.Mutex
				var errs []error // of all calls, in their order
				for range 64 {
					users.Go(func() {
						mu.Lock()
						defer mu.Unlock()
						k := len(errs)
						errs = append(errs, operations[k%len(operations)].run(t.Context(), c, 100, k))
					})
				}
				users.Wait()
				return errors.Join(errs...)
			}))
			closeAll(t, all)
		})
	}
}

// endOf returns the kind of a call's end.
func endOf(err error) string {
	var wrong *wrongResult
	var mismatch *MismatchError
	switch {
	case err == nil:
		return "right"
	case errors.As(err, &wrong):
		return "wrong"
	case errors.Is(err, ErrConcurrentUse):
		return "concurrent use"
	case errors.As(err, &mismatch):
		return "mismatch"
	case errors.Is(err, ErrAborted), errors.Is(err, ErrClosed):
		return "ended by the other rank"
	}
	return "other"
}

// TestManyCommunicators uses 64 communicators of one world at once, each from a goroutine of its own on every rank.
func TestManyCommunicators(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 3)
			for rank, err := range onAll(all, func(c *Comm) error {
				many := make([]*Comm, 64)
				for i := range many {
					var err error
					if many[i], err = c.Split(t.Context(), 0, -i*c.Rank()); err != nil {
						return fmt.Errorf("split %d: %w", i, err)
					}
				}
				errs := onAll(many, func(c *Comm) error {
					for seed := range 20 {
						if err := operations[seed%len(operations)].run(t.Context(), c, 100, seed); err != nil {
							return err
						}
					}
					return nil
				})
				closeAll(t, many)
				return errors.Join(errs...)
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			closeAll(t, all)
		})
	}
}

// TestOverlappingGroups uses groups with ranks in common, all at once.
func TestOverlappingGroups(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 4)
			groups := [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 1, 0}, {0, 1, 2, 3}, {2}}
			for rank, err := range onAll(all, func(c *Comm) error {
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
			closeAll(t, all)
		})
	}
}

// inGroup returns this rank's part in a group of the given ranks, if it is one of them.
func inGroup(ctx context.Context, c *Comm, ranks []int) error {
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
		return operations[5].run(ctx, g, 1000, 3)
	}
	return nil
}

// TestDisagreement has two ranks make calls between which no message tells of the difference: both learn of it without
// an end of their context, at the latest by their next call.
func TestDisagreement(t *testing.T) {
	for name, calls := range map[string][2]func(ctx context.Context, c *Comm) error{
		"both receive": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"both send": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) }},
		"a receive against a collective": {
			func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"nothing against something": {
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, []int32{}, Sum) },
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, make([]int32, 4), Sum) }},
	} {
		for _, w := range worlds {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				all := w.comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range onAll(all, func(c *Comm) error {
					defer c.Close()
					if err := calls[c.Rank()](ctx, c); err != nil {
						return err
					}
					return Barrier(ctx, c)
				}) {
					var m *MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}
