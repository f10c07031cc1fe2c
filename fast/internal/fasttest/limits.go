package fasttest

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Promise is how soon all other ranks of a host know of a death.
const Promise = 100 * time.Millisecond

// noise is how much more time the tests leave a machine on which other tests run. Under `make soak`, which has the
// machine to itself, what is promised is all there is.
var noise = func() time.Duration {
	if Soaking() {
		return 0
	}
	return 400 * time.Millisecond
}()

// Generous is longer than anything takes that ends, on any machine.
const Generous = 5 * time.Minute

// Soaking reports whether `make soak` runs the tests.
func Soaking() bool { return os.Getenv("COLLGEN_SOAK") != "" }

// Delays are how long something took that has a limit, which holds where the processors are free.
type Delays struct {
	Limit time.Duration
	busy  func() bool // whether the processors are not free; nil: processorsAreBusy

	mu    sync.Mutex
	tries int
	above int           // how many tries took longer than the limit
	freed int           // and for how many of them it does not hold
	worst time.Duration // of those for which it does
}

// Add counts a delay.
func (d *Delays) Add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries++
	if took <= d.Limit {
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

// Check logs how often the limit was exceeded, and fails the test unless that was within the noise, or because the
// processors were busy.
func (d *Delays) Check(t *testing.T, what string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Logf("%s: %d tries, at most %v, %d of them above %v, of which %d while the processors were busy and not judged",
		what,
		d.tries, d.worst, d.above, d.Limit, d.freed)
	if d.tooLong() {
		t.Errorf("%s: it took %v, want %v", what, d.worst, d.Limit)
	}
}

func (d *Delays) tooLong() bool { return d.worst > d.Limit+noise }

// Tries returns how often a test that depends on chance tries: few times under -short, more in the tests, and very
// often under `make soak`, which sets COLLGEN_SOAK.
func Tries(t *testing.T, usual, soak int) int {
	t.Helper()
	n := usual
	switch {
	case Soaking():
		n = soak
	case testing.Short():
		n = max(1, usual/10)
	}
	t.Logf("%d tries", n)
	return n
}
