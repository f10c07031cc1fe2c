// Package fabric simulates RDMA devices and the network between them within a process, for tests: what a device may do,
// it does. The packets of writes are placed in any order, those of the next writes among them, and only the immediate
// comes when all before it are in place; completions come late; receives are consumed, and their lack is an error after
// some tries; a broken queue pair flushes what is in flight.
//
// Nothing moves by itself: every look at a completion queue moves packets of all devices on, drawn by the seed. So a
// fabric has no goroutines and no timers, and everything that is in flight arrives as long as somebody looks or waits.
package fabric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/collgen/collgen/fast/internal/rdma"
)

// Options are what the devices of a Fabric are like. Zeros are numbers that do.
type Options struct {
	Seed       uint64
	MaxMessage int // bytes of a write
	MTU        int // bytes of a packet
	Inline     int // most bytes of an inline write
	Registered int // bytes that all of a device's memory may have
	Lazy       int // one look of so many moves anything
	RNRTries   int // how often a receive is looked for
}

// Fabric is devices and the network between them.
type Fabric struct {
	Options
	mu      sync.Mutex
	rand    *rand.Rand
	pairs   map[uint32]*pair
	moving  []*pair // those with something in flight
	regions map[uint32]*region
	domains []*Domain
	next    uint32 // number or key
	faults  int    // how often memory was given back that a device still read
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
	return &Fabric{Options: o, rand: rand.New(rand.NewPCG(o.Seed, 1)), pairs: map[uint32]*pair{}, regions: map[uint32]*region{},
		moving: make([]*pair, 0, 64)}
}

// Freeze has d's writes move no more, from the one on with which it has carried so many bytes, until Thaw.
func (f *Fabric) Freeze(d *Domain, carried int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.freezes = carried
}

// Thaw undoes all Freezes, and moves what is in flight until it has arrived.
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

// Refuse has d take only so many more writes.
func (f *Fabric) Refuse(d *Domain, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.takes = writes
}

// Faults returns how often memory was given back that a device still read.
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

// steps moves what is in flight on, at most n times, and tells whether something is left. The fabric is locked.
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

// move has p's flights be moved, and wakes who sleeps: somebody has to look.
func (f *Fabric) move(p *pair) {
	if !p.moves {
		p.moves = true
		f.moving = append(f.moving, p)
	}
	for _, d := range f.domains {
		d.ring()
	}
}

// Cut breaks all queue pairs of d, as the death of its process does: nobody is told, but who writes to them gets no
// answer.
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

// Break has the next write of d that is carried out fail with err.
func (f *Fabric) Break(d *Domain, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.breaks = err
}

// target returns the memory of n bytes at an address, by its key, or why there is none. n is not 0.
func (f *Fabric) target(key uint32, at uint64, n int) ([]byte, error) {
	r := f.regions[key]
	if r == nil || at < r.at || at-r.at > uint64(len(r.memory)) || uint64(n) > uint64(len(r.memory))-(at-r.at) {
		return nil, fmt.Errorf("the peer's memory is not registered for this: %d bytes at %#x with key %#x", n, at, key)
	}
	return r.memory[at-r.at:][:n], nil
}

var _ rdma.Domain = (*Domain)(nil)
