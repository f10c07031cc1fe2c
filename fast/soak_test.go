package fast

import (
	"os"
	"sync"
	"testing"
	"time"
)

// promise is how soon all other ranks of a host know of a death.
const promise = 100 * time.Millisecond

// noise is how much more time the tests leave a busy machine. Under `make soak`, which has the machine to itself, what is
// promised is all there is.
var noise = func() time.Duration {
	if soaking() {
		return 0
	}
	return 400 * time.Millisecond
}()

// generous is longer than anything takes that ends, on any machine.
const generous = time.Minute

func soaking() bool { return os.Getenv("COLLGEN_SOAK") != "" }

// delays are how long something took that has a limit.
type delays struct {
	limit time.Duration

	mu    sync.Mutex
	tries int
	above int // how many tries took longer than the limit
	worst time.Duration
}

func (d *delays) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries++
	d.worst = max(d.worst, took)
	if took > d.limit {
		d.above++
	}
}

// check says how often the limit was exceeded, and is content while that was within the noise.
func (d *delays) check(t *testing.T, what string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Logf("%s: %d tries, at most %v, %d of them above %v", what, d.tries, d.worst, d.above, d.limit)
	if d.worst > d.limit+noise {
		t.Errorf("%s: it took %v, want %v", what, d.worst, d.limit)
	}
}

// tries is how often a test that depends on chance tries: few times under -short, more in the tests, and very often under
// `make soak`, which sets COLLGEN_SOAK.
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
