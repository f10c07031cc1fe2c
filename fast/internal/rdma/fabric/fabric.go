// Package fabric simulates RDMA devices and the network between them within a process, for tests. Its devices do
// whatever real ones may do. The packets of writes are placed in any order, mixed with those of later writes; only an
// immediate waits until everything before it is in place. Completions arrive late. Receives are consumed, and a missing
// one is an error after some tries. A broken queue pair flushes what is in flight.
//
// Nothing moves by itself: every poll of a completion queue advances packets of all devices, drawn by the seed. So a
// fabric has no goroutines and no timers, and everything in flight arrives as long as somebody polls or waits.
package fabric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/collgen/collgen/fast/internal/rdma"
)

// Options describe the devices of a Fabric. Zeros stand for defaults.
type Options struct {
	Seed       uint64
	MaxMessage int // the most bytes of a write
	MTU        int // bytes of a packet
	Inline     int // the most bytes of an inline write
	Registered int // the most bytes that a device may have registered
	Lazy       int // one poll of that many moves anything
	RNRTries   int // how often a device tries for a receive
}

// Fabric is a network and the devices on it.
type Fabric struct {
	Options
	mu      sync.Mutex
	rand    *rand.Rand
	pairs   map[uint32]*pair
	moving  []*pair // the pairs with something in flight
	regions map[uint32]*region
	domains []*Domain
	next    uint32 // the next number or key
	faults  int    // how often memory was deregistered that a device still read
}

// New returns a fabric without devices.
func New(o Options) *Fabric {
	fill := func(v *int, usual int) {
		if *v == 0 {
			*v = usual
		}
	}
	fill(&o.MaxMessage, 1<<30)
	fill(&o.MTU, 4096)
	fill(&o.Registered, math.MaxInt)
	fill(&o.Lazy, 1)
	fill(&o.RNRTries, 6)
	return &Fabric{Options: o, rand: rand.New(rand.NewPCG(o.Seed, 1)), pairs: map[uint32]*pair{},
		regions: map[uint32]*region{},
		moving:  make([]*pair, 0, 64)}
}

// Freeze stops d's writes, once it has carried that many bytes, until Thaw.
func (f *Fabric) Freeze(d *Domain, carried int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.freezes = carried
}

// Thaw undoes every Freeze, and moves what is in flight until it has arrived.
func (f *Fabric) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.domains {
		d.freezes = math.MaxInt
	}
	for _, p := range f.pairs {
		f.move(p)
	}
	for f.steps(1000) {
	}
}

// Refuse makes d take only that many more writes.
func (f *Fabric) Refuse(d *Domain, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.takes = writes
}

// Faults returns how often memory was deregistered that a device still read.
func (f *Fabric) Faults() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

// number returns one that was not used before.
func (f *Fabric) number() uint32 {
	f.next++
	return f.next - 1
}

// steps advances what is in flight, at most n times, and reports whether something is left. The caller holds the lock.
func (f *Fabric) steps(n int) bool {
	for ; n > 0 && len(f.moving) > 0; n-- {
		i := f.rand.IntN(len(f.moving))
		if p := f.moving[i]; !p.step() {
			p.moves = false
			last := len(f.moving) - 1
			f.moving[i], f.moving = f.moving[last], f.moving[:last]
		}
	}
	return len(f.moving) > 0
}

// move adds p to the pairs that are advanced, and wakes all domains: somebody has to poll.
func (f *Fabric) move(p *pair) {
	if !p.moves {
		p.moves = true
		f.moving = append(f.moving, p)
	}
	for _, d := range f.domains {
		d.ring()
	}
}

// Cut breaks all queue pairs of d, like the death of its process: nobody is notified, but writes to them get no answer.
func (f *Fabric) Cut(d *Domain) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pairs {
		if p.domain == d {
			p.gone = true
			delete(f.pairs, p.address.QP)
		}
	}
}

// Break makes the next write that d carries out fail with err.
func (f *Fabric) Break(d *Domain, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.breaks = err
}

// target returns the n bytes of memory at an address, by key, or why there are none. n is not 0.
func (f *Fabric) target(key uint32, at uint64, n int) ([]byte, error) {
	r := f.regions[key]
	if r == nil || at < r.at || at-r.at > uint64(len(r.memory)) || uint64(n) > uint64(len(r.memory))-(at-r.at) {
		return nil, fmt.Errorf("the peer's memory is not registered for this: %d bytes at %#x with key %#x", n, at, key)
	}
	return r.memory[at-r.at:][:n], nil
}

var _ rdma.Domain = (*Domain)(nil)
