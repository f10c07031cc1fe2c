package hosts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/trace"
)

// TestRefused: a call with wrong arguments is refused before anything is sent, and does no harm.
func TestRefused(t *testing.T) {
	for _, p := range []placement{{0}, {0, 0}, {0, 1}, {0, 0, 1}} {
		if err := fast.Run(t.Context(), len(p), func(ctx context.Context, c *fast.Comm) error {
			h, err := on(ctx, c, p.hosts())
			if err != nil {
				return err
			}
			defer h.Close()
			refusals(ctx, t, h)
			return errors.Join(Barrier(ctx, h), AllReduce(ctx, h, make([]int32, 8), fast.Sum))
		}); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// firstOp is not commutative: it takes the operand of the lowest rank.
var firstOp = func() fast.Op {
	op, err := fast.NewOp("first", false, func(dst, a, b []int64) { copy(dst, a) })
	if err != nil {
		panic(err)
	}
	return op
}()

// refusals checks the errors of wrong calls on h.
func refusals(ctx context.Context, t *testing.T, h *Comm) {
	n := h.size()
	one, all := make([]int64, 3), make([]int64, 3*n+1)
	_, noComm := New(ctx, nil)
	var none context.Context
	for name, x := range map[string]struct {
		err  error
		want string
	}{
		"New":                         {noComm, "the communicator is nil"},
		"no communicator":             {AllReduce(ctx, nil, one, fast.Sum), "the communicator is nil"},
		"nobody's communicator":       {Barrier(ctx, new(Comm)), "the communicator is nil"},
		"nobody's communicator, root": {Reduce(ctx, new(Comm), one, fast.Sum, 0), "the communicator is nil"},
		"no context":                  {AllReduce(none, h, one, fast.Sum), "the context is nil"},
		"no op":                       {AllReduce(ctx, h, one, 0), "is not defined on int64"},
		"an op of integers": {Reduce(ctx, h, make([]float32, 3), fast.BXor, 0),
			"op bxor is not defined on float32"},
		"another such": {ReduceScatter(ctx, h, make([]float32, n), fast.BXor),
			"op bxor is not defined on float32"},
		"an op that is not commutative": {AllReduce(ctx, h, one, firstOp), "op first is not commutative"},
		"lengths":                       {AllReduceInto(ctx, h, one[:2], one, fast.Sum), "len(dst) is 2, want 3"},
		"root":                          {Broadcast(ctx, h, one, n), fmt.Sprintf("root is %d, want a rank of %d", n, n)},
		"root below":                    {Reduce(ctx, h, one, fast.Sum, -1), "root is -1"},
		"root's lengths":                {BroadcastInto(ctx, h, one, one[:2], h.rank()), "len(src) is 2, want 3"},
		"root's other lengths":          {ReduceInto(ctx, h, one[:2], one, fast.Sum, h.rank()), "len(dst) is 2, want 3"},
		"overlap":                       {AllReduceInto(ctx, h, all[1:2*n+1], all[:2*n], fast.Sum), "dst and src overlap"},
		"root's overlap":                {BroadcastInto(ctx, h, all[1:2*n+1], all[:2*n], h.rank()), "dst and src overlap"},
		"root's other overlap": {ReduceInto(ctx, h, all[1:2*n+1], all[:2*n], fast.Sum, h.rank()),
			"dst and src overlap"},
		"gathered":             {AllGatherInto(ctx, h, all, one), fmt.Sprintf("len(dst) is %d, want %d", 3*n+1, 3*n)},
		"gathered over itself": {AllGatherInto(ctx, h, all[:2*n], all[2*h.rank()+1:][:2]), "dst and src overlap"},
		"scattered": {ReduceScatterInto(ctx, h, one, all, fast.Sum),
			fmt.Sprintf("len(src) is %d, want %d", 3*n+1, 3*n)},
		"scattered over itself": {ReduceScatterInto(ctx, h, all[2*h.rank()+1:][:2], all[:2*n], fast.Sum),
			"dst and src overlap"},
		"exchanged": {AllToAllInto(ctx, h, all[:n], all[:2*n]),
			fmt.Sprintf("len(dst) is %d, want %d", n, 2*n)},
		"exchanged over itself": {AllToAllInto(ctx, h, all[1:2*n+1], all[:2*n]), "dst and src overlap"},
	} {
		if !errors.Is(x.err, fast.ErrInvalidArgument) || !strings.HasPrefix(x.err.Error(), "hosts.") ||
			!strings.Contains(x.err.Error(), x.want) {
			t.Errorf("%d ranks, %s: %v, want %q", n, name, x.err, x.want)
		}
	}
	if n == 1 {
		return
	}
	for name, err := range map[string]error{
		"gathered": AllGather(ctx, h, all), "scattered": ReduceScatter(ctx, h, all, fast.Sum),
		"exchanged": AllToAll(ctx, h, all),
	} {
		if want := fmt.Sprintf("is %d, not a multiple of %d", 3*n+1, n); !errors.Is(err, fast.ErrInvalidArgument) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestReproducible: in a job of reproducible sums, those of floats are refused, because they are sums of sums, and
// other calls are made.
func TestReproducible(t *testing.T) {
	p := placement{0, 0, 1}
	if err := fast.Run(t.Context(), len(p), func(ctx context.Context, c *fast.Comm) error {
		h, err := on(ctx, c, p.hosts())
		if err != nil {
			return err
		}
		defer h.Close()
		for name, err := range map[string]error{
			"AllReduce":     AllReduce(ctx, h, make([]float64, 3), fast.Sum),
			"Reduce":        Reduce(ctx, h, make([]float32, 3), fast.Avg, 1),
			"ReduceScatter": ReduceScatter(ctx, h, make([]complex64, 3), fast.Sum),
		} {
			if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), "a sum of sums is not reproducible") {
				t.Errorf("%s of floats: %v", name, err)
			}
		}
		n, x := []int64{2}, []float64{float64(c.Rank())}
		if err := errors.Join(AllReduce(ctx, h, n, fast.Sum), AllReduce(ctx, h, x, fast.Max)); err != nil || n[0] != 6 ||
			x[0] != 2 {
			t.Errorf("a sum of integers and a maximum: %v, %v, %v", n, x, err)
		}
		return nil
	}, fast.WithReproducible()); err != nil {
		t.Error(err)
	}
}

// TestRoom: a call is refused, on all ranks, for which a leader would need too much memory.
func TestRoom(t *testing.T) {
	h := place(new(fast.Comm), [][]int{{0}})
	if err := checkRoom[int64](h, 1<<27, 16); err != nil {
		t.Error(err)
	}
	for ranks, elements := range map[int]int{2: 1<<30 + 1, 16: 1<<27 + 1} {
		if err := checkRoom[int64](h, elements, ranks); !errors.Is(err, fast.ErrInvalidArgument) {
			t.Errorf("%d times %d elements: %v", ranks, elements, err)
		}
	}
}

// TestRoomOnUnevenHosts: all ranks refuse a call for which the leader of the host with most ranks would need too much.
func TestRoomOnUnevenHosts(t *testing.T) {
	p := placement{0, 0, 0, 1}
	for elements, served := range map[int]bool{8: true, 12: false} {
		all := p.job(t, inproc.NewJob(len(p)))
		for rank, err := range fasttest.OnAll(all, func(h *Comm) error {
			h.limit = 3 * 8 * 8
			return AllToAll(t.Context(), h, make([]int64, elements))
		}) {
			if (err == nil) != served || err != nil && !errors.Is(err, fast.ErrInvalidArgument) {
				t.Errorf("rank %d, %d elements: %v", rank, elements, err)
			}
		}
		closeAll(t, all)
	}
}

// TestNumberOfFailure: the error of a call that fails among leaders has the number that the call has on all ranks.
func TestNumberOfFailure(t *testing.T) {
	p := placement{0, 0, 1}
	all := p.job(t, inproc.NewJob(len(p)))
	errs := fasttest.OnAll(all, func(h *Comm) error {
		if err := Barrier(t.Context(), h); err != nil {
			return err
		}
		return AllReduce(t.Context(), h, make([]int, 1+h.rank()/2), fast.Sum)
	})
	for _, rank := range []int{0, 2} {
		var of *fast.CallError
		if !errors.As(errs[rank], &of) || of.Seq != 2 {
			t.Errorf("rank %d: %v, want call 2", rank, errs[rank])
		}
	}
	closeAll(t, all)
}

// TestIgnoredSource: what ranks that are not the root pass to a broadcast as src makes no difference.
func TestIgnoredSource(t *testing.T) {
	p := placement{0, 0, 1}
	all := p.job(t, inproc.NewJob(len(p)))
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(h *Comm) error {
		memory := make([]int, 4)
		if memory[0] = h.rank(); h.rank() == 1 {
			return BroadcastInto(t.Context(), h, memory[1:], []int{7, 7, 7}, 1)
		}
		if err := BroadcastInto(t.Context(), h, memory[1:], memory[:2], 1); err != nil {
			return err
		}
		if !slices.Equal(memory, []int{h.rank(), 7, 7, 7}) {
			return fmt.Errorf("rank %d has %d", h.rank(), memory)
		}
		return nil
	}))
	closeAll(t, all)
}

// TestHarmless: a call is refused whose context has ended before, and one while another goroutine is in a call; then
// calls go on. After Close they are refused too.
func TestHarmless(t *testing.T) {
	p := placement{0, 1, 0}
	if err := fast.Run(t.Context(), len(p), func(ctx context.Context, c *fast.Comm) error {
		h, err := on(ctx, c, p.hosts())
		if err != nil {
			return err
		}
		defer h.Close()
		over, cancel := context.WithCancel(ctx)
		cancel()
		var late *fast.TimeoutError
		if err := AllReduce(over, h, make([]int, 5), fast.Sum); !errors.As(err, &late) || !errors.Is(err, context.Canceled) {
			t.Errorf("of a context that has ended: %v", err)
		}
		h.busy.Store(true)
		if err := Barrier(ctx, h); !errors.Is(err, fast.ErrConcurrentUse) {
			t.Errorf("beside another call: %v", err)
		}
		h.busy.Store(false)
		if err := errors.Join(Barrier(ctx, h), h.Close(), h.Close()); err != nil {
			return err
		}
		if err := Barrier(ctx, h); !errors.Is(err, fast.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		return fast.Barrier(ctx, c)
	}); err != nil {
		t.Error(err)
	}
	if err := (*Comm)(nil).Close(); err != nil {
		t.Error(err)
	}
}

// mismatches are calls of ranks 0, 2, 4 and 5 on three hosts, and of ranks 1 and 3 on another one; of the latter, only
// rank 3 makes the second one where they are to differ on their host.
var mismatches = map[string][2]func(ctx context.Context, h *Comm) error{
	"count": {
		func(ctx context.Context, h *Comm) error { return AllReduce(ctx, h, make([]int, 8), fast.Sum) },
		func(ctx context.Context, h *Comm) error { return AllReduce(ctx, h, make([]int, 9), fast.Sum) },
	},
	"op": {
		func(ctx context.Context, h *Comm) error { return AllReduce(ctx, h, make([]int, 8), fast.Sum) },
		func(ctx context.Context, h *Comm) error { return AllReduce(ctx, h, make([]int, 8), fast.Avg) },
	},
	"root on one host": {
		func(ctx context.Context, h *Comm) error { return Broadcast(ctx, h, make([]int, 8), 2) },
		func(ctx context.Context, h *Comm) error { return Broadcast(ctx, h, make([]int, 8), 4) },
	},
	"root of a reduction": {
		func(ctx context.Context, h *Comm) error { return Reduce(ctx, h, make([]int, 8), fast.Sum, 0) },
		func(ctx context.Context, h *Comm) error { return Reduce(ctx, h, make([]int, 8), fast.Sum, 2) },
	},
	"call": {
		func(ctx context.Context, h *Comm) error { return AllGather(ctx, h, make([]int, 6)) },
		func(ctx context.Context, h *Comm) error { return AllToAll(ctx, h, make([]int, 36)) },
	},
	"type": {
		func(ctx context.Context, h *Comm) error { return ReduceScatter(ctx, h, make([]int, 6), fast.Sum) },
		func(ctx context.Context, h *Comm) error { return ReduceScatter(ctx, h, make([]uint, 6), fast.Sum) },
	},
}

// TestNewSaysItOnce: the error of a New that meets another call has its cause once.
func TestNewSaysItOnce(t *testing.T) {
	job := inproc.NewJob(3)
	all := fasttest.Begin(t, 3, func(rank int) (*fast.Comm, error) {
		c, err := access.Fast.Goroutine(job.Plane(rank), 3, []fast.InitOption(nil))
		return c.(*fast.Comm), err
	})
	errs := fasttest.OnAll(all, func(c *fast.Comm) error {
		if c.Rank() == 1 {
			return fast.Barrier(t.Context(), c)
		}
		_, err := New(t.Context(), c)
		return err
	})
	for _, rank := range []int{0, 2} {
		if err := errs[rank]; !errors.As(err, new(*fast.MismatchError)) || strings.Count(err.Error(), "not match") != 1 {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	fasttest.CloseAll(t, all)
}

// TestMismatches: if a rank makes another call than the others, or all ranks of a host do, all have an error that
// blames one of them, and the communicator is given up.
func TestMismatches(t *testing.T) {
	p := placement{0, 1, 0, 1, 0, 2}
	for name, calls := range mismatches {
		for _, odd := range [][]int{{3}, {1, 3}} {
			t.Run(fmt.Sprint(name, odd), func(t *testing.T) {
				all := p.job(t, inproc.NewJob(len(p)))
				errs := fasttest.OnAll(all, func(h *Comm) error {
					call := fasttest.Unless(slices.Contains(odd, h.rank()), calls[0], calls[1])
					return cmp.Or(call(t.Context(), h), Barrier(t.Context(), h)) // a root's call may need others who need nothing
				})
				for rank, err := range errs {
					blamed := fast.Culprits(err)
					if !slices.Contains(odd, rank) &&
						!slices.ContainsFunc(blamed, func(r int) bool { return slices.Contains(odd, r) }) ||
						len(blamed) == 0 || !errors.As(err, new(*fast.MismatchError)) {
						t.Errorf("rank %d: %v", rank, err)
					}
					if err := Barrier(t.Context(), all[rank]); !errors.Is(err, fast.ErrAborted) {
						t.Errorf("rank %d, afterwards: %v", rank, err)
					}
				}
				closeAll(t, all)
			})
		}
	}
}

// job returns the ranks of a job of goroutines on these hosts.
func (p placement) job(t *testing.T, job *inproc.Job) []*Comm {
	return fasttest.Begin(t, len(p), func(rank int) (*Comm, error) {
		c, err := access.Fast.Goroutine(job.Plane(rank), len(p), []fast.InitOption(nil))
		if err != nil {
			return nil, err
		}
		return on(t.Context(), c.(*fast.Comm), p.hosts())
	})
}

// closeAll closes all of them, and the communicators of which they were made.
func closeAll(t *testing.T, all []*Comm) {
	fasttest.CloseAll(t, all)
	for _, h := range all {
		if err := h.c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTimeout: the end of a rank's context ends the call on all ranks, with an error that names ranks of the whole.
func TestTimeout(t *testing.T) {
	p := placement{1, 0, 1, 0, 0}
	all := p.job(t, inproc.NewJob(len(p)))
	ctx, cancel := context.WithCancel(t.Context())
	errs := fasttest.OnAll(all, func(h *Comm) error {
		switch h.rank() {
		case 2:
			for !waits(t, all[0].near.Comm) {
				time.Sleep(time.Millisecond)
			}
			cancel()
			return nil // it makes no call
		case 0:
			return AllReduce(ctx, h, make([]int, 3), fast.Sum)
		}
		return AllReduce(t.Context(), h, make([]int, 3), fast.Sum)
	})
	for _, rank := range []int{0, 1, 3, 4} {
		var late *fast.TimeoutError
		if !errors.As(errs[rank], &late) || !slices.Equal(late.Waiting, []int{2}) {
			t.Errorf("rank %d: %v", rank, errs[rank])
		}
		var call *fast.CallError
		if !errors.As(errs[rank], &call) || call.Op != "hosts.AllReduce" || call.Rank != rank || call.Comm != "world" {
			t.Errorf("rank %d: %+v", rank, call)
		}
	}
	closeAll(t, all)
}

// TestClosedMeanwhile: a call ends in which a rank is that closes the Comm, there and on a rank that waits for it.
func TestClosedMeanwhile(t *testing.T) {
	p := placement{0, 1, 0}
	all := p.job(t, inproc.NewJob(len(p)))
	errs := fasttest.OnAll(all, func(h *Comm) error {
		if h.rank() != 2 {
			return AllReduce(t.Context(), h, make([]int, 3), fast.Sum)
		}
		for !waits(t, all[0].near.Comm) || !waits(t, all[1].far.Comm) {
			time.Sleep(time.Millisecond)
		}
		return all[0].Close()
	})
	if !errors.Is(errs[0], fast.ErrClosed) || errs[2] != nil {
		t.Errorf("the rank that closes: %v, %v", errs[0], errs[2])
	}
	var peer *fast.PeerError
	if !errors.As(errs[1], &peer) || peer.Rank != 0 || !errors.Is(peer, fast.ErrClosed) {
		t.Errorf("the rank that waits for it: %v", errs[1])
	}
	closeAll(t, all)
}

// waits reports whether a rank of c is in a call, and waits for another one.
func waits(t *testing.T, c *fast.Comm) bool {
	var text bytes.Buffer
	err := c.WriteTrace(&text)
	got, wrong := trace.Read(&text)
	if err = errors.Join(err, wrong); err != nil {
		t.Error(err)
		return true
	}
	return slices.ContainsFunc(got.Entries, func(e trace.Entry) bool {
		return e.State == trace.Running && len(e.Waiting) > 0
	})
}

// TestDeath: when a rank dies, every call ends on all others, with an error that names it, whichever call it is,
// whether the rank leads its host or not, and on whatever host. The others can go on without it.
func TestDeath(t *testing.T) {
	p := placement{0, 1, 0, 1, 0, 2}
	for i := range operations {
		for victim := range p {
			t.Run(fmt.Sprint(operations[i].name, victim),
				func(t *testing.T) { p.dies(t, victim, operations[i].repeated(len(p))) })
		}
	}
	for victim := range p {
		t.Run(fmt.Sprint("Barrier", victim), func(t *testing.T) {
			p.dies(t, victim, func(ctx context.Context, h *Comm) error { return Barrier(ctx, h) })
		})
	}
}

// repeated returns a function that makes the next call of o, with each root in turn.
func (o *operation) repeated(size int) func(ctx context.Context, h *Comm) error {
	calls := o.calls(size, 1009)
	return func(ctx context.Context, h *Comm) error {
		x := &calls[int(h.calls)%len(calls)]
		return x.on(ctx, h, made())
	}
}

// dies has ranks repeat a call until one of them dies.
func (p placement) dies(t *testing.T, victim int, call func(ctx context.Context, h *Comm) error) {
	job := inproc.NewJob(len(p))
	all := p.job(t, job)
	life, end := context.WithCancel(t.Context())
	var rounds atomic.Int64
	errs := fasttest.OnAll(all, func(h *Comm) error {
		ctx := fasttest.Unless(h.rank() == victim, t.Context(), life)
		for {
			if err := call(ctx, h); err != nil {
				return err
			}
			if h.rank() == victim && rounds.Add(1) == 3 {
				go func() {
					job.Plane(victim).End(fast.ErrDied)
					end()
				}()
			}
		}
	})
	for rank, err := range errs {
		var peer *fast.PeerError
		if rank != victim && (!errors.As(err, &peer) || peer.Rank != victim || !errors.Is(err, fast.ErrDied) ||
			!slices.Equal(fast.Culprits(err), []int{victim})) {
			t.Errorf("rank %d: %v", rank, err)
		}
		if err == nil {
			t.Errorf("rank %d, which died, has no error", rank)
		}
	}
	p.goOn(t, all, victim)
	closeAll(t, all)
}

// goOn has the ranks that are left make another communicator in two levels.
func (p placement) goOn(t *testing.T, all []*Comm, victim int) {
	left := slices.Delete(slices.Clone(all), victim, victim+1)
	hosts := slices.Delete(slices.Clone(p), victim, victim+1).hosts()
	fasttest.CheckErrors(t, fasttest.OnAll(left, func(h *Comm) error {
		c, err := h.c.Shrink(t.Context())
		if err != nil {
			return err
		}
		defer c.Close()
		again, err := on(t.Context(), c, hosts)
		if err != nil {
			return err
		}
		defer again.Close()
		return (&call{&operations[0], len(left), 7, fast.Sum, 0}).on(t.Context(), again, made())
	}))
}

// TestOtherFailure: a rank that gives the communicator of all ranks up gets the others out of their calls in two
// levels.
func TestOtherFailure(t *testing.T) {
	p := placement{0, 1, 0, 1, 0, 2}
	for odd := range p {
		all := p.job(t, inproc.NewJob(len(p)))
		for rank, err := range fasttest.OnAll(all, func(h *Comm) error {
			if h.rank() == odd {
				h.c.Abort()
				return fast.ErrAborted
			}
			return AllReduce(t.Context(), h, make([]int, 3), fast.Sum)
		}) {
			if !errors.Is(err, fast.ErrAborted) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		closeAll(t, all)
	}
}

// TestUnmade: where a rank cannot make one of its communicators, New fails on all ranks.
func TestUnmade(t *testing.T) {
	p := placement{0, 1, 0, 1, 0, 2}
	for odd := range p {
		job := inproc.NewJob(len(p))
		all := fasttest.Begin(t, len(p), func(rank int) (*fast.Comm, error) {
			plane, made := job.Plane(rank), 0
			create := func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
				e, err := plane.Found(ctx, id, rank, members)
				if made++; err == nil && plane.Self() == odd && made == 2 {
					return nil, errors.Join(errors.New("no room"), e.Close())
				}
				return e, err
			}
			c, err := access.Fast.FirstComm(t.Context(), len(p), access.World{Plane: plane, Create: create})
			return c.(*fast.Comm), err
		})
		for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
			_, err := on(t.Context(), c, p.hosts())
			return err
		}) {
			if want := fasttest.Unless(rank == odd, "another rank could not", "no room"); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("rank %d of a job in which rank %d has no room: %v", rank, odd, err)
			}
		}
		fasttest.CloseAll(t, all)
	}
}

// TestGoroutines: a Comm leaves no goroutine.
func TestGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, p := range some {
		if err := p.goroutines(t.Context(), made(), 5); err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(fasttest.Generous); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
}

// TestAllocations: a repeated call allocates nothing.
func TestAllocations(t *testing.T) {
	p := placement{0, 1, 0, 2}
	all := p.job(t, inproc.NewJob(len(p)))
	defer closeAll(t, all)
	const runs = 10
	for name, call := range inPlace {
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(h *Comm) (err error) {
			buf := make([]int64, 8*len(p))
			once := func() { err = errors.Join(err, call(t.Context(), h, buf, fast.Avg, 2)) }
			if h.rank() > 0 {
				for range 1 + runs {
					once()
				}
				return err
			}
			if n := testing.AllocsPerRun(runs, once); n != 0 {
				t.Errorf("%s: %v allocations on all ranks", name, n)
			}
			return err
		}))
	}
}
