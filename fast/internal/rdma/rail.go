package rdma

import (
	"math"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

// rail is one of the devices, or ports, that an endpoint uses.
type rail struct {
	Domain
	pairs  map[uint32]*queuePair // by number, as far as links use them
	sleeps chan struct{}         // tells the goroutine that watches this rail that the endpoint is about to sleep
}

// rails are all rails of an endpoint. The endpoint sleeps on the first one. The goroutines that watch the others wake
// it there.
type rails struct {
	all        []rail
	maxMessage int // the most bytes of a write, on any of them
	watchers   sync.WaitGroup
}

func newRails(domains []Domain) *rails {
	r := &rails{all: make([]rail, len(domains)), maxMessage: math.MaxInt}
	for i, d := range domains {
		r.all[i] = rail{Domain: d, pairs: map[uint32]*queuePair{}}
		r.maxMessage = min(r.maxMessage, d.MaxMessage())
		if i > 0 {
			r.all[i].sleeps = make(chan struct{}, 1)
			r.watchers.Go(func() { r.watch(&r.all[i]) })
		}
	}
	return r
}

// watch waits for a completion on one rail whenever the endpoint is about to sleep, and wakes the endpoint. Poll will
// see what fails.
func (r *rails) watch(one *rail) {
	for range one.sleeps {
		_ = one.Wait(linkbase.MaxSleep)
		r.wake()
	}
}

// wake ends the sleep in progress, or the next one.
func (r *rails) wake() { r.all[0].Wake() }

// arm makes the next sleep end at the next completion on any rail.
func (r *rails) arm() error {
	for i := range r.all {
		if err := r.all[i].Arm(); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits for a completion on any rail.
func (r *rails) sleep(atMost time.Duration) error {
	for i := 1; i < len(r.all); i++ {
		select {
		case r.all[i].sleeps <- struct{}{}:
		default: // its watcher is waiting already
		}
	}
	return r.all[0].Wait(atMost)
}

// close stops the watchers and closes the devices.
func (r *rails) close() {
	for i := 1; i < len(r.all); i++ {
		close(r.all[i].sleeps)
		r.all[i].Wake()
	}
	r.watchers.Wait()
	for i := range r.all {
		_ = r.all[i].Close()
	}
}
