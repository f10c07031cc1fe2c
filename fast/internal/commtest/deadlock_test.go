package commtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// hasty are times with which tests find deadlocks soon. They are long enough for ranks that do not get a processor.
var hasty = deadlock.Limits{Still: 200 * time.Millisecond, Holds: time.Second}

// never are times with which ranks do not find what takes time.
var never = deadlock.Limits{Still: 24 * time.Hour}

// within has the search for deadlocks take such times.
func within(t deadlock.Limits) fast.InitOption { return access.Fast.Times(t).(fast.InitOption) }

// long is more bytes than the sockets of a connection hold, or the slots of shared memory.
// twice, because what they hold exceeds that a little
var long = max(32<<20, 2*(mostHeld("tcp_rmem")+mostHeld("tcp_wmem")))

// mostHeld returns the largest size to which Linux lets a socket's buffer grow, in bytes; 0 elsewhere.
func mostHeld(setting string) int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/" + setting)
	sizes := strings.Fields(string(text)) // least, default, most
	if err != nil || len(sizes) != 3 {
		return 0
	}
	most, _ := strconv.Atoi(sizes[2])
	return most
}

func next(c *fast.Comm) int     { return (c.Rank() + 1) % c.Size() }
func previous(c *fast.Comm) int { return (c.Rank() + c.Size() - 1) % c.Size() }

// deadlocks are calls in which ranks wait for each other. Odd is the rank that is in another call than the others.
var deadlocks = []struct {
	what string
	run  func(ctx context.Context, c *fast.Comm, odd int) error
	// field is what a MismatchError names, "" if it is a DeadlockError.
	field string
	inAll bool // all ranks are in the ring
	sizes []int
}{
	{"a receive against recursive doubling", func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.Recv(ctx, c, make([]int32, 12), partner(c.Size(), odd))
		}
		return fast.AllReduce(ctx, c, make([]int32, 12), fast.Sum, fast.WithAlgorithm("recursive-doubling"))
	}, "primitive", false, []int{3, 4, 5}},
	{"all receive", func(ctx context.Context, c *fast.Comm, _ int) error {
		return fast.Recv(ctx, c, make([]int32, 12), next(c))
	}, "", true, []int{2, 3, 4, 5}},
	{"all send", func(ctx context.Context, c *fast.Comm, _ int) error {
		return fast.Send(ctx, c, make([]byte, long), next(c))
	}, "", true, []int{2, 3, 4, 5}},
	{"one receives, and others send", func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.Recv(ctx, c, make([]byte, long), next(c))
		}
		return fast.Send(ctx, c, make([]byte, long), next(c))
	}, "", true, []int{3, 4}},
	{"all receive but one, which computes", func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			<-ctx.Done() // in no call: it learns of it when it makes one
			return fast.Barrier(context.Background(), c)
		}
		to := next(c)
		if to == odd {
			to = (to + 1) % c.Size()
		}
		return fast.Recv(ctx, c, make([]int32, 12), to)
	}, "", false, []int{4, 5}},
}

// TestDeadlocks: in every world, every rank ends, with what the ring is, without an end of its context.
func TestDeadlocks(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
		for _, d := range deadlocks {
			for _, size := range d.sizes {
				all := w.Comms(t, size)
				cases.Go(func() {
					defer fasttest.CloseAll(t, all)
					start, odd := time.Now(), size/2
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					errs := fasttest.OnAll(all, func(c *fast.Comm) error {
						if c.Rank() != odd {
							defer cancel()
						}
						if d.inAll || d.field != "" {
							return d.run(t.Context(), c, odd)
						}
						return d.run(unlessOdd(t.Context(), ctx, c, odd), c, odd)
					})
					t.Logf("%s, %d ranks: found after %v: %v", d.what, size, time.Since(start).Round(time.Millisecond), errs[odd])
					if err := wantDeadlock(errs, odd, d.field, d.inAll); err != nil {
						t.Errorf("%s, %d ranks: %v", d.what, size, err)
					}
				})
			}
		}
	})
}

// TestDeadlockLabels: what ranks that wait for each other learn has the labels of their calls.
func TestDeadlockLabels(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
		all := w.Comms(t, 3)
		cases.Go(func() {
			defer fasttest.CloseAll(t, all)
			for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				x := make([]int32, 12)
				if c.Rank() == 1 {
					return fast.Recv(t.Context(), c, x, partner(3, 1), fast.WithLabel("token"))
				}
				return fast.AllReduce(t.Context(), c, x, fast.Sum, fast.WithAlgorithm("recursive-doubling"), fast.WithLabel("loss"))
			}) {
				var m *fast.MismatchError
				if !errors.As(err, &m) || !strings.Contains(m.Error(), `"token"`) || !strings.Contains(m.Error(), `"loss"`) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	})
}

// inEveryWorld has f begin cases, which mostly wait, and waits for all of them together.
func inEveryWorld(t *testing.T, f func(t *testing.T, w World, cases *sync.WaitGroup)) {
	for _, w := range fasttest.Worlds(fast.Init, within(hasty)) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			var cases sync.WaitGroup
			defer cases.Wait()
			f(t, w, &cases)
		})
	}
}

// unlessOdd returns ctx, or for the odd rank the one that ends when another rank has ended.
func unlessOdd(ctx, others context.Context, c *fast.Comm, odd int) context.Context {
	if c.Rank() == odd {
		return others
	}
	return ctx
}

// wantDeadlock says what is wrong with the errors of all ranks.
func wantDeadlock(errs []error, odd int, field string, inAll bool) error {
	if field != "" {
		return wantMismatch(errs, odd, []string{field})
	}
	said := false
	for rank, err := range errs {
		var d *fast.DeadlockError
		switch {
		case errors.As(err, &d):
			said = true
			if !errors.Is(err, fast.ErrDeadlock) || inAll && len(d.Ranks) != len(errs) || !slices.Contains(d.Ranks, rank) &&
				!errors.Is(err, fast.ErrAborted) {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
		case !errors.Is(err, fast.ErrAborted):
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if !said {
		return fmt.Errorf("nobody says what the ring is: %w", errors.Join(errs...))
	}
	return nil
}

// TestSlowRanksAreNoDeadlock has one rank after the other sleep for longer than a deadlock takes to be found, twice,
// while the others wait for each other in a chain up to it, by sends and receives and in a collective.
func TestSlowRanksAreNoDeadlock(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, cases *sync.WaitGroup) {
		for slow := range 3 {
			all := w.Comms(t, 3)
			cases.Go(func() {
				defer fasttest.CloseAll(t, all)
				for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error { return passAround(t.Context(), c, slow) }) {
					if err != nil {
						t.Errorf("rank %d, while rank %d is slow: %v", rank, slow, err)
					}
				}
			})
		}
	})
}

// passAround passes a message around, which begins at the slow rank, and adds something up, twice.
func passAround(ctx context.Context, c *fast.Comm, slow int) error {
	data := make([]byte, 1<<20)
	for range 2 {
		if c.Rank() == slow {
			time.Sleep(2 * (hasty.Still + hasty.Holds))
			if err := fast.Send(ctx, c, data, next(c)); err != nil {
				return err
			}
		}
		if err := fast.Recv(ctx, c, data, previous(c)); err != nil {
			return err
		}
		if c.Rank() != slow {
			if err := fast.Send(ctx, c, data, next(c)); err != nil {
				return err
			}
		}
		if err := fast.AllReduce(ctx, c, data, fast.Sum, fast.WithAlgorithm("recursive-doubling")); err != nil {
			return err
		}
	}
	return nil
}

// TestDeadlockBesideWork has ranks wait for each other on one communicator while they work on another one, which goes
// on. They wait for calls that were started, so that a goroutine might still start another one: it takes a while until
// nobody expects that.
func TestDeadlockBesideWork(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w World, _ *sync.WaitGroup) {
		all := w.Comms(t, 3)
		stuck := fasttest.Again(t, all)
		defer fasttest.CloseAll(t, all)
		defer fasttest.CloseAll(t, stuck)
		errs := fasttest.OnAll(all, func(c *fast.Comm) error {
			h := fast.StartRecv(t.Context(), stuck[c.Rank()], make([]int32, 1), next(c))
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = h.Wait(t.Context())
			}()
			going := []int32{1}
			for going[0] > 0 { // until a rank knows
				going[0] = 1
				select {
				case <-done:
					going[0] = -3
				default:
				}
				if err := fast.AllReduce(t.Context(), c, going, fast.Sum); err != nil {
					return fmt.Errorf("the other communicator: %v", err)
				}
			}
			return h.Wait(t.Context())
		})
		if w.Name == "goroutines" {
			t.Log(errs)
		} else if err := wantDeadlock(errs, 0, "", true); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadlockThroughTwo has a ring that goes through two communicators, which is not looked for: the calls end with
// their context.
func TestDeadlockThroughTwo(t *testing.T) {
	all := initComms(t, 3, fast.WithTransport("tcp"), within(hasty))
	other := fasttest.Again(t, all)
	defer fasttest.CloseAll(t, all)
	defer fasttest.CloseAll(t, other)
	ctx, cancel := context.WithTimeout(t.Context(), 3*(hasty.Still+hasty.Holds))
	defer cancel()
	for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
		if c.Rank() == 0 {
			c = other[0]
		}
		return fast.Recv(ctx, c, make([]int32, 1), next(c))
	}) {
		if errors.Is(err, fast.ErrDeadlock) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestDeadlockInWords: what the errors say.
func TestDeadlockInWords(t *testing.T) {
	e := &fast.DeadlockError{Ranks: []int{2, 0, 1}, Sends: []bool{true, false, true}}
	if got, want := e.Error(), "ranks wait for each other: rank 2 sends to rank 0, which receives from rank 1, which "+
		"sends to rank 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e = &fast.DeadlockError{Ranks: make([]int, 100), Sends: make([]bool, 100)}
	if got := e.Error(); len(got) > 1000 || !errors.Is(e, fast.ErrDeadlock) {
		t.Error(got)
	}
}

// TestStandoff: of ranks on two hosts two both send to each other, or both receive. They learn what the ring is, in the
// ranks of the whole, although the transport within a host numbers those that it reaches by itself.
func TestStandoff(t *testing.T) {
	for what, call := range map[string]func(ctx context.Context, c *fast.Comm, other int) error{
		"send": func(ctx context.Context, c *fast.Comm, other int) error {
			return fast.Send(ctx, c, make([]byte, long), other)
		},
		"receive": func(ctx context.Context, c *fast.Comm, other int) error {
			return fast.Recv(ctx, c, make([]byte, 8), other)
		},
	} {
		for _, size := range []int{3, 4} {
			for _, pair := range [][]int{{0, 2}, {size - 3, size - 1}, {0, 1}} {
				t.Run(what, func(t *testing.T) {
					all := initComms(t, size, oddAndEven())
					defer fasttest.CloseAll(t, all)
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					two := []*fast.Comm{all[pair[0]], all[pair[1]]}
					said := false
					for i, err := range fasttest.OnAll(two,
						func(c *fast.Comm) error { return call(ctx, c, pair[0]+pair[1]-c.Rank()) }) {
						var d *fast.DeadlockError
						if errors.As(err, &d) {
							ranks := slices.Sorted(slices.Values(d.Ranks))
							said = slices.Equal(ranks, pair) && slices.Equal(d.Sends, []bool{what == "send", what == "send"})
						}
						if !said && !errors.Is(err, fast.ErrAborted) {
							t.Errorf("rank %d: %v", pair[i], err)
						}
					}
					if !said {
						t.Error("nobody says what the ring is")
					}
				})
			}
		}
	}
}
