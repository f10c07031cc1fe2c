package commtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// A call of a rank, and the name by which errors know it.
type namedCall struct {
	name string
	run  func(ctx context.Context, c *fast.Comm) error
}

// everybody returns all ranks of c.
func everybody(c *fast.Comm) []int {
	all := make([]int, c.Size())
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// closing returns the error of making a communicator, which is closed.
func closing(c *fast.Comm, err error) error {
	return errors.Join(err, c.Close())
}

// besides are the operations beside the data path.
var besides = []namedCall{
	{"Agree", func(ctx context.Context, c *fast.Comm) error { _, err := c.Agree(ctx, 1); return err }},
	{"Shrink", func(ctx context.Context, c *fast.Comm) error { return closing(c.Shrink(ctx)) }},
	{"Grow", func(ctx context.Context, c *fast.Comm) error { return closing(c.Grow(ctx)) }},
	{"Group", func(ctx context.Context, c *fast.Comm) error { return closing(c.Group(ctx, everybody(c))) }},
}

// stoppedBy are calls that need all ranks.
var stoppedBy = []namedCall{
	{"Barrier", barrierCall},
	{"AllReduce", func(ctx context.Context, c *fast.Comm) error {
		return fast.AllReduce(ctx, c, make([]float32, 5), fast.Sum)
	}},
	{"Split", func(ctx context.Context, c *fast.Comm) error { return closing(c.Split(ctx, 0, 0)) }},
}

// growsIn reports whether processes can join the world.
func growsIn(w World) bool { return w.Name != "goroutines" }

// TestBesideAgainstCalls: one rank is in an operation beside the data path and the others in a collective, or the other
// way round. All learn of it, by name, but those in Shrink, which goes on with the others. Then all make another
// communicator.
func TestBesideAgainstCalls(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
		for _, size := range []int{2, 3, 5} {
			var more sync.WaitGroup // as many at a time as a busy machine can do
			for _, b := range besides {
				if b.name == "Grow" && !growsIn(w) {
					continue
				}
				for _, call := range stoppedBy {
					for _, oddIsBeside := range []bool{true, false} {
						for _, odd := range []int{0, size - 1} {
							all := w.Comms(t, size)
							more.Go(func() {
								defer fasttest.CloseAll(t, all)
								what := fmt.Sprintf("%s and %s, %d ranks, rank %d is odd (%v)", b.name, call.name, size, odd, oddIsBeside)
								isBeside := func(rank int) bool { return (rank == odd) == oddIsBeside }
								if err := besideAgainstCall(t.Context(), all, b, call, isBeside); err != nil {
									t.Errorf("%s: %v", what, err)
								}
							})
						}
					}
				}
			}
			more.Wait()
		}
	})
}

// besideAgainstCall has some ranks be in b, and the others in call. It says what is wrong.
func besideAgainstCall(ctx context.Context, all []*fast.Comm, b, call namedCall, isBeside func(rank int) bool) error {
	ctx, cancel := context.WithTimeout(ctx, fasttest.Generous)
	defer cancel()
	return errors.Join(fasttest.OnAll(all, func(c *fast.Comm) error {
		mine := call
		if isBeside(c.Rank()) {
			mine = b
		}
		err := mine.run(ctx, c)
		if mine.name == "Shrink" {
			return err // the others have come to it
		}
		if err := wantOperations(err, b.name, call.name); err != nil {
			return fmt.Errorf("rank %d, %s: %w", c.Rank(), mine.name, err)
		}
		if c.State() != fast.Failed {
			return fmt.Errorf("rank %d: it is %v", c.Rank(), c.State())
		}
		made, err := c.Shrink(ctx)
		if err != nil {
			return fmt.Errorf("rank %d, afterwards: %w", c.Rank(), err)
		}
		if b.name != "Shrink" { // nobody has closed its own
			err = checkSum(ctx, made)
		}
		return errors.Join(err, made.Close())
	})...)
}

// wantOperations says what is wrong with the error of a rank, of which some were in one operation and others in another
// one.
func wantOperations(err error, one, other string) error {
	var m *fast.MismatchError
	if !errors.As(err, &m) {
		return fmt.Errorf("%w, and no MismatchError", err)
	}
	names := []string{m.Mine, m.Theirs}
	if m.Field != "operation" || !slices.Contains(names, one) || !slices.Contains(names, other) {
		return fmt.Errorf("%w, want %s and %s", err, one, other)
	}
	return nil
}

// TestBesideAgainstOthers: calls that need one rank alone, or wait for it though they do not need it, or wait for calls
// that were started, or are of two ranks.
func TestBesideAgainstOthers(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
		for _, x := range []struct {
			namedCall
			size   int
			beside func(rank int) bool
		}{
			{namedCall{"AllReduce", func(ctx context.Context, c *fast.Comm) error {
				fast.StartAllReduce(ctx, c, make([]float32, 5), fast.Sum)
				return fast.Barrier(ctx, c)
			}}, 3, func(rank int) bool { return rank == 1 }},
			{namedCall{"Broadcast", takesLong}, 3, func(rank int) bool { return rank > 0 }},
			{namedCall{"Broadcast", func(ctx context.Context, c *fast.Comm) error {
				return fast.Broadcast(ctx, c,
					make([]int32, 3), 1)
			}}, 4,
				func(rank int) bool { return rank < 2 }},
			{namedCall{"Recv", func(ctx context.Context, c *fast.Comm) error { return fast.Recv(ctx, c, make([]int32, 3), 0) }},
				2,
				func(rank int) bool { return rank == 0 }},
			{namedCall{"Send", func(ctx context.Context, c *fast.Comm) error {
				return fast.Send(ctx, c, make([]byte, long),
					1)
			}}, 2,
				func(rank int) bool { return rank == 1 }},
		} {
			all := w.Comms(t, x.size)
			cases.Go(func() {
				defer fasttest.CloseAll(t, all)
				if err := besideAgainstCall(t.Context(), all, besides[0], x.namedCall, x.beside); err != nil {
					t.Errorf("%s: %v", x.name, err)
				}
			})
		}
	})
}

// takesLong makes a Broadcast that does not end on its root before the others take something.
func takesLong(ctx context.Context, c *fast.Comm) error {
	return fast.Broadcast(ctx, c, make([]byte, long), 0)
}

// TestGroupInARing: rank 0 is in a group with rank 1, which is in a barrier with rank 2, which is in one with rank 0.
func TestGroupInARing(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, _ *sync.WaitGroup) {
		all := w.Comms(t, 3)
		defer fasttest.CloseAll(t, all)
		ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
		defer cancel()
		for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
			if c.Rank() == 0 {
				return closing(c.Group(ctx, []int{0, 1}))
			}
			return fast.Barrier(ctx, c)
		}) {
			if err := wantOperations(err, "Group", "Barrier"); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

// untilAsked waits until a rank has asked the others some times.
func untilAsked(ctx context.Context, c *fast.Comm, times uint32) error {
	for access.Fast.Asked(c) < times {
		if err := errors.Join(ctx.Err(), c.Err()); err != nil {
			return fmt.Errorf("%v has asked %d times: %w", c, access.Fast.Asked(c), err)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// TestBesideIsPatient: a rank waits in an operation beside the data path until it has asked several times, for ranks
// that merely have not come yet. None of them takes that for a disagreement.
func TestBesideIsPatient(t *testing.T) {
	const questions = 3
	for _, x := range []struct {
		what string
		run  func(ctx context.Context, all []*fast.Comm, c *fast.Comm, b namedCall) error
	}{
		{"computes", func(ctx context.Context, all []*fast.Comm, c *fast.Comm, b namedCall) error {
			if c.Rank() == 2 {
				if err := errors.Join(untilAsked(ctx, all[0], questions), untilAsked(ctx, all[1], questions)); err != nil {
					return err
				}
			}
			return b.run(ctx, c)
		}},
		{"is in the call before, which needs who waits, and has got it", func(ctx context.Context, all []*fast.Comm,
			c *fast.Comm, b namedCall) error {
			if c.Rank() == 2 {
				if err := untilAsked(ctx, all[1], questions); err != nil {
					return err
				}
			}
			if err := fast.Reduce(ctx, c, make([]float32, 5), fast.Sum, 0, fast.WithAlgorithm("linear")); err != nil {
				return err
			}
			return b.run(ctx, c)
		}},
		{"receives in the call before what who waits has sent, and more", func(ctx context.Context, all []*fast.Comm,
			c *fast.Comm, b namedCall) error {
			var err error
			switch c.Rank() {
			case 0:
				err = errors.Join(fast.Recv(ctx, c, make([]int32, 1), 1), fast.Recv(ctx, c, make([]int32, 1), 2))
			case 1:
				err = fast.Send(ctx, c, make([]int32, 1), 0)
			case 2:
				err = errors.Join(untilAsked(ctx, all[1], questions), fast.Send(ctx, c, make([]int32, 1), 0))
			}
			return errors.Join(err, b.run(ctx, c))
		}},
		{"has started a call that needs who waits", func(ctx context.Context, all []*fast.Comm, c *fast.Comm,
			b namedCall) error {
			if c.Rank() != 2 {
				return errors.Join(b.run(ctx, c), fast.AllReduce(ctx, c, make([]float32, 5), fast.Sum))
			}
			h := fast.StartAllReduce(ctx, c, make([]float32, 5), fast.Sum)
			return errors.Join(untilAsked(ctx, all[0], questions), untilAsked(ctx, all[1], questions), b.run(ctx, c),
				h.Wait(ctx))
		}},
		{"needs a call that who waits has started", func(ctx context.Context, all []*fast.Comm, c *fast.Comm,
			b namedCall) error {
			if c.Rank() == 0 {
				h := fast.StartAllReduce(ctx, c, make([]float32, 5), fast.Sum)
				return errors.Join(b.run(ctx, c), h.Wait(ctx))
			}
			if c.Rank() == 2 {
				if err := untilAsked(ctx, all[0], questions); err != nil {
					return err
				}
			}
			return errors.Join(fast.AllReduce(ctx, c, make([]float32, 5), fast.Sum), b.run(ctx, c))
		}},
	} {
		t.Run(x.what, func(t *testing.T) {
			inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
				for _, b := range besides {
					if b.name == "Grow" { // fails: nobody is invited
						continue
					}
					for range fasttest.Tries(t, 2, 50) {
						all := w.Comms(t, 3)
						cases.Go(func() {
							defer fasttest.CloseAll(t, all)
							ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
							defer cancel()
							for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
								err := x.run(ctx, all, c, b)
								if err != nil {
									cancel() // the others would wait
								}
								return err
							}) {
								if err != nil {
									t.Errorf("%s, rank %d: %v", b.name, rank, err)
								}
							}
						})
					}
				}
			})
		})
	}
}

// TestBesideExcludes: while a rank is in an operation beside the data path it makes no call, and the other way round;
// Shrink alone begins all the same.
func TestBesideExcludes(t *testing.T) {
	for _, b := range besides[:2] {
		all := comms(t, 2)
		done := make(chan error, 2)
		go func() { done <- b.run(t.Context(), all[0]) }()
		for access.Fast.Asked(all[0]) == 0 {
			runtime.Gosched()
		}
		for _, call := range append(slices.Clone(stoppedBy), besides[0], besides[3]) {
			if err := call.run(t.Context(), all[0]); !errors.Is(err, fast.ErrConcurrentUse) {
				t.Errorf("%s during %s: %v", call.name, b.name, err)
			}
		}
		fasttest.CheckErrors(t, []error{b.run(t.Context(), all[1]), <-done})
		checkHealthy(t, all)
		fasttest.CloseAll(t, all)
	}
	all := comms(t, 2)
	defer fasttest.CloseAll(t, all)
	done := make(chan error, 1)
	go func() { done <- fast.Barrier(t.Context(), all[0]) }()
	for !errors.Is(fast.Free(all[0], []int{0}), fast.ErrConcurrentUse) { // until it is in the call
		runtime.Gosched()
	}
	for _, b := range []namedCall{besides[0], besides[3]} {
		if err := b.run(t.Context(), all[0]); !errors.Is(err, fast.ErrConcurrentUse) {
			t.Errorf("%s during a barrier: %v", b.name, err)
		}
	}
	fasttest.CheckErrors(t, fasttest.OnAll(all, besidesShrink(t.Context())))
	fasttest.CheckErrors(t, []error{fast.Barrier(t.Context(), all[1]), <-done})
}

// besidesShrink is Shrink.
func besidesShrink(ctx context.Context) func(c *fast.Comm) error {
	return func(c *fast.Comm) error { return besides[1].run(ctx, c) }
}
