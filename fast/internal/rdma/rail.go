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
	lanes map[uint32]*lane // by the number of the queue pair, as far as links have one
	asked chan struct{}    // of a rail that another goroutine listens to: the endpoint is about to sleep
}

// rails are all of an endpoint. The endpoint sleeps in the first one; who listens to the others wakes it there.
type rails struct {
	all     []rail
	most    int // bytes of a write, on any of them
	listens sync.WaitGroup
}

func newRails(domains []Domain) *rails {
	r := &rails{all: make([]rail, len(domains)), most: math.MaxInt}
	for i, d := range domains {
		r.all[i] = rail{Domain: d, lanes: map[uint32]*lane{}}
		r.most = min(r.most, d.MaxMessage())
		if i > 0 {
			r.all[i].asked = make(chan struct{}, 1)
			r.listens.Go(func() { r.listen(&r.all[i]) })
		}
	}
	return r
}

// listen waits for something to be done on one rail whenever the endpoint is about to sleep, and wakes it. What fails
// is seen by Poll.
func (r *rails) listen(one *rail) {
	for range one.asked {
		_ = one.Wait(linkbase.MaxSleep)
		r.wake()
	}
}

// wake ends the sleep in progress, or the next one.
func (r *rails) wake() { r.all[0].Wake() }

// arm has the next sleep end at the next completion of any rail.
func (r *rails) arm() error {
	for i := range r.all {
		if err := r.all[i].Arm(); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits until something is done on any rail.
func (r *rails) sleep(atMost time.Duration) error {
	for i := 1; i < len(r.all); i++ {
		select {
		case r.all[i].asked <- struct{}{}:
		default: // it listens, and goes on
		}
	}
	return r.all[0].Wait(atMost)
}

// close gives the devices back. Nobody listens to them any more.
func (r *rails) close() {
	for i := 1; i < len(r.all); i++ {
		close(r.all[i].asked)
		r.all[i].Wake()
	}
	r.listens.Wait()
	for i := range r.all {
		_ = r.all[i].Close()
	}
}
