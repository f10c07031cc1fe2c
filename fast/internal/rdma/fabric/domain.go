package fabric

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/rdma"
)

// Domain is an endpoint's share of a simulated device.
type Domain struct {
	// Before is called with the name of an operation, "register", "pair" or "connect", before that begins. A test may
	// make it slow.
	Before func(what string)
	// Misplaced makes immediates arrive before the bytes that they are about: a fault for tests to find.
	Misplaced bool
	// Unbreakable makes Break fail.
	Unbreakable bool
	fabric      *Fabric
	name        string
	done        []rdma.Completion // those before at were polled
	at          int
	armed       bool
	event       bool // a completion arrived while it was armed
	woken       bool
	bell        chan struct{}
	timer       *time.Timer
	registered  int
	carried     int   // bytes of all writes
	freezes     int   // when that many bytes were carried, writes stop moving
	takes       int   // how many more writes the device takes
	open        int   // pairs and regions
	breaks      error // the failure of the next write
	failed      error // the failure of the port
	closed      bool
}

// Domain returns a new device.
func (f *Fabric) Domain(name string) *Domain {
	d := &Domain{Before: func(string) {}, fabric: f, name: name, done: make([]rdma.Completion, 0, 1<<10),
		bell: make(chan struct{}, 1), timer: time.NewTimer(time.Hour), freezes: math.MaxInt, takes: math.MaxInt}
	d.timer.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.domains = append(f.domains, d)
	return d
}

// Name returns the device.
func (d *Domain) Name() string { return d.name }

// MaxMessage returns the option of that name.
func (d *Domain) MaxMessage() int { return d.fabric.MaxMessage }

// FailPort makes the device report from now on that its port has failed.
func (d *Domain) FailPort(err error) {
	d.fabric.mu.Lock()
	d.failed = err
	d.fabric.mu.Unlock()
	d.Wake()
}

// Left returns how many of d's pairs and regions were not closed.
func (d *Domain) Left() int {
	d.fabric.mu.Lock()
	defer d.fabric.mu.Unlock()
	return d.open
}

// Carried returns the total bytes of d's writes.
func (d *Domain) Carried() int {
	d.fabric.mu.Lock()
	defer d.fabric.mu.Unlock()
	return d.carried
}

// errMemlock is the error of a device that may not register more memory.
var errMemlock = errors.New("cannot allocate memory: more than RLIMIT_MEMLOCK allows")

// region is registered memory.
type region struct {
	domain *Domain
	memory []byte
	at     uint64
	key    uint32
}

// Register registers any memory, even Go's.
func (d *Domain) Register(memory []byte) (rdma.Region, error) {
	d.Before("register")
	f := d.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(memory) > f.Registered-d.registered {
		return nil, fmt.Errorf("register %d bytes: %w", len(memory), errMemlock)
	}
	r := &region{d, memory, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))), f.number()}
	f.regions[r.key] = r
	d.registered += len(memory)
	d.open++
	return r, nil
}

func (r *region) Remote() (uint64, uint32) { return r.at, r.key }

// Close ends the registration, and counts a fault for each write that still reads the memory.
func (r *region) Close() error {
	f := r.domain.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pairs {
		for n := p.arrived; n < p.posted; n++ {
			if fl := p.flight(n); fl.From == r && !fl.Inline {
				f.faults++
			}
		}
	}
	delete(f.regions, r.key)
	r.domain.registered -= len(r.memory)
	r.domain.open--
	return nil
}

// Poll advances what is in flight, and takes completions. It is never patient.
func (d *Domain) Poll(into []rdma.Completion, _ bool) (n int, err error) {
	f := d.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	if d.closed {
		return 0, errors.New("the device is closed")
	}
	if d.failed != nil {
		return 0, d.failed
	}
	if f.rand.IntN(f.Lazy) == 0 {
		f.steps(1 + f.rand.IntN(8))
	}
	n = copy(into, d.done[d.at:])
	if d.at += n; d.at == len(d.done) {
		d.done, d.at = d.done[:0], 0
	}
	return n, nil
}

// complete adds a completion. The fabric is locked.
func (d *Domain) complete(c rdma.Completion) {
	d.done = append(d.done, c)
	if d.armed {
		d.armed, d.event = false, true
		d.ring()
	}
}

// Arm makes the next Wait end at the next completion, but not at one that is there already.
func (d *Domain) Arm() error {
	d.fabric.mu.Lock()
	defer d.fabric.mu.Unlock()
	d.armed, d.event = true, false
	return nil
}

// Armed reports whether d is armed.
func (d *Domain) Armed() bool {
	d.fabric.mu.Lock()
	defer d.fabric.mu.Unlock()
	return d.armed
}

// Wait advances what is in flight until everything has arrived, and waits.
func (d *Domain) Wait(atMost time.Duration) error {
	d.timer.Reset(atMost)
	defer d.timer.Stop()
	for {
		over, moving := d.advance()
		switch {
		case over:
			return nil
		case moving:
			runtime.Gosched()
			continue
		}
		select {
		case <-d.bell:
		case <-d.timer.C:
			return nil
		}
	}
}

// advance advances what is in flight. It reports whether a Wait is over, and whether there is more to move.
func (d *Domain) advance() (over, moving bool) {
	f := d.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	moving = f.steps(64)
	over = d.event || d.woken || d.failed != nil || d.closed
	d.event, d.woken = false, false
	return over, moving
}

// Wake ends the Wait in progress, or the next one.
func (d *Domain) Wake() {
	d.fabric.mu.Lock()
	defer d.fabric.mu.Unlock()
	d.woken = true
	d.ring()
}

func (d *Domain) ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// Close fails if a pair or a region was not closed.
func (d *Domain) Close() error {
	f := d.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	d.closed = true
	if d.open > 0 {
		return fmt.Errorf("%s: %d pairs and regions are open", d.name, d.open)
	}
	return nil
}
