package fast

import (
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
