package fast

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// promise is how soon all other ranks of a host know of a death.
const promise = 100 * time.Millisecond

// noise is how much more time the tests leave a machine on which other tests run. Under `make soak`, which has the
// machine to itself, what is promised is all there is.
var noise = func() time.Duration {
	if soaking() {
		return 0
	}
	return 400 * time.Millisecond
}()

// generous is longer than anything takes that ends, on any machine.
const generous = 5 * time.Minute

func soaking() bool { return os.Getenv("COLLGEN_SOAK") != "" }

// delays are how long something took that has a limit, which holds where the processors are free.
type delays struct {
	limit time.Duration
	busy  func() bool // whether the processors are not free; nil: processorsAreBusy

	mu    sync.Mutex
	tries int
	above int           // how many tries took longer than the limit
	freed int           // and for how many of them it does not hold
	worst time.Duration // of those for which it does
}

func (d *delays) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries++
	if took <= d.limit {
		d.worst = max(d.worst, took)
		return
	}
	d.above++
	if busy := d.busy; busy != nil && busy() || busy == nil && processorsAreBusy() {
		d.freed++
		return
	}
	d.worst = max(d.worst, took)
}

// processorsAreBusy reports whether a thread that wants to run now, one for each processor, gets less than most of the
// time: because of what else runs, or of a limit.
func processorsAreBusy() bool {
	const long = 300 * time.Millisecond // several periods of a limit
	var busy atomic.Bool
	var threads sync.WaitGroup
	for range runtime.NumCPU() {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			before, start := threadTime(), time.Now()
			for time.Since(start) < long {
			}
			if threadTime()-before < time.Since(start)*8/10 {
				busy.Store(true)
			}
		})
	}
	threads.Wait()
	return busy.Load()
}

// threadTime is for how long this thread has run.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// check says how often the limit was exceeded, and is content while that was within the noise, or because the
// processors were busy.
func (d *delays) check(t *testing.T, what string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Logf("%s: %d tries, at most %v, %d of them above %v, of which %d while the processors were busy and not judged", what,
		d.tries, d.worst, d.above, d.limit, d.freed)
	if d.tooLong() {
		t.Errorf("%s: it took %v, want %v", what, d.worst, d.limit)
	}
}

func (d *delays) tooLong() bool { return d.worst > d.limit+noise }

// tries returns how often a test that depends on chance tries: few times under -short, more in the tests, and very
// often under `make soak`, which sets COLLGEN_SOAK.
func tries(t *testing.T, usual, soak int) int {
	t.Helper()
	n := usual
	switch {
	case soaking():
		n = soak
	case testing.Short():
		n = max(1, usual/10)
	}
	t.Logf("%d tries", n)
	return n
}

// TestDelays: what took too long is a failure, unless the processors were busy; within the noise it is none.
func TestDelays(t *testing.T) {
	const limit = time.Second
	for _, x := range []struct {
		took  time.Duration
		busy  bool
		fails bool
	}{{limit, false, false}, {limit + noise, false, false}, {limit + noise + 1, false, true}, {time.Hour, true, false}, {time.Hour, false, true}} {
		d := delays{limit: limit, busy: func() bool { return x.busy }}
		d.add(limit / 2)
		if d.add(x.took); d.tooLong() != x.fails {
			t.Errorf("%+v: %v", x, d.tooLong())
		}
	}
}

// TestBusy: on processors on which many others want to run, those are busy.
func TestBusy(t *testing.T) {
	var over atomic.Bool
	var others sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		others.Go(func() {
			runtime.LockOSThread()
			for !over.Load() {
			}
		})
	}
	if !processorsAreBusy() {
		t.Error("with five times as many threads as processors, all of them get one")
	}
	over.Store(true)
	others.Wait()
}

// operation is a call on every rank, with inputs that follow from the rank and a seed, and a result that is checked.
type operation struct {
	name string
	run  func(ctx context.Context, c *Comm, count, seed int) error
}

// operations are all that a communicator can do.
var operations = []operation{
	{"Broadcast", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		buf := input(c.Rank(), count, seed)
		err := Broadcast(ctx, c, buf, root)
		return verified(err, buf, func(i int) int { return element(root, i, seed) })
	}},
	{"Scatter", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = input(root, count*c.Size(), seed)
		}
		mine := make([]int, count)
		err := ScatterInto(ctx, c, mine, all, root)
		return verified(err, mine, func(i int) int { return element(root, c.Rank()*count+i, seed) })
	}},
	{"Gather", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = make([]int, count*c.Size())
		}
		err := GatherInto(ctx, c, all, input(c.Rank(), count, seed), root)
		return verified(err, all, func(i int) int { return element(i/count, i%count, seed) })
	}},
	{"Reduce", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var out []int
		if c.Rank() == root {
			out = make([]int, count)
		}
		err := ReduceInto(ctx, c, out, input(c.Rank(), count, seed), Sum, root)
		return verified(err, out, func(i int) int { return total(c.Size(), i, seed) })
	}},
	{"AllGather", func(ctx context.Context, c *Comm, count, seed int) error {
		all := make([]int, count*c.Size())
		err := AllGatherInto(ctx, c, all, input(c.Rank(), count, seed))
		return verified(err, all, func(i int) int { return element(i/count, i%count, seed) })
	}},
	{"AllReduce", func(ctx context.Context, c *Comm, count, seed int) error {
		buf := input(c.Rank(), count, seed)
		err := AllReduce(ctx, c, buf, Sum)
		return verified(err, buf, func(i int) int { return total(c.Size(), i, seed) })
	}},
	{"ReduceScatter", func(ctx context.Context, c *Comm, count, seed int) error {
		mine := make([]int, count)
		err := ReduceScatterInto(ctx, c, mine, input(c.Rank(), count*c.Size(), seed), Sum)
		return verified(err, mine, func(i int) int { return total(c.Size(), c.Rank()*count+i, seed) })
	}},
	{"AllToAll", func(ctx context.Context, c *Comm, count, seed int) error {
		out := make([]int, count*c.Size())
		err := AllToAllInto(ctx, c, out, input(c.Rank(), count*c.Size(), seed))
		return verified(err, out, func(i int) int { return element(i/count, c.Rank()*count+i%count, seed) })
	}},
	{"Barrier", func(ctx context.Context, c *Comm, _, _ int) error { return Barrier(ctx, c) }},
	{"Send and Recv", func(ctx context.Context, c *Comm, count, seed int) error {
		next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		if c.Size() == 1 {
			return nil
		}
		buf := make([]int, count)
		receive := func() error {
			err := Recv(ctx, c, buf, prev)
			return verified(err, buf, func(i int) int { return element(prev, i, seed) })
		}
		if c.Rank() == 0 { // so that not all of them send first
			if err := receive(); err != nil {
				return err
			}
			return Send(ctx, c, input(c.Rank(), count, seed), next)
		}
		if err := Send(ctx, c, input(c.Rank(), count, seed), next); err != nil {
			return err
		}
		return receive()
	}},
}

// element returns the i-th input of a rank.
func element(rank, i, seed int) int { return (rank+1)*1_000_003 + i*7 + seed }

func input(rank, count, seed int) []int {
	x := make([]int, count)
	for i := range x {
		x[i] = element(rank, i, seed)
	}
	return x
}

// total returns the sum of the i-th inputs of all ranks.
func total(size, i, seed int) int {
	return size*(size+1)/2*1_000_003 + size*(i*7+seed)
}

// wrongResult is the error of a call that has succeeded with a wrong result.
type wrongResult struct{ at, got, want int }

func (w *wrongResult) Error() string {
	return fmt.Sprintf("wrong: [%d] is %d, want %d", w.at, w.got, w.want)
}

// unfinished is the error of a call that had a buffer for its result.
type unfinished struct {
	error
	buf []int
}

func (u *unfinished) Unwrap() error { return u.error }

// verified returns err, with the buffer, or, if there is none, that got is not what is wanted.
func verified(err error, got []int, want func(i int) int) error {
	if err != nil {
		return &unfinished{err, got}
	}
	for i, x := range got {
		if x != want(i) {
			return &wrongResult{i, x, want(i)}
		}
	}
	return nil
}
