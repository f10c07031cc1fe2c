package rdma

import (
	"errors"
	"sync"
	"unsafe"
)

// registry is memory that was made known. It has a lock of its own: to register much memory takes long.
type registry struct {
	rails *rails

	mu     sync.Mutex
	known  []*known
	closed bool
}

// known is memory that lasts, and is registered with the first long message that lies in it.
type known struct {
	memory  []byte
	regions []Region // of each rail; nil: not registered
	uses    int      // how often it was made known
	failed  bool     // it cannot be registered
}

// Know has long messages to and from memory go without a copy, until Forget. The memory is not Go's. What was made
// known several times has to be forgotten as often.
func (e *Endpoint) Know(memory []byte) { e.known.add(memory) }

// Forget takes back a Know: then the memory may be freed. No Exchange is in progress.
func (e *Endpoint) Forget(memory []byte) error { return e.known.remove(memory) }

func (r *registry) add(memory []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(memory) == 0 {
		return
	}
	for _, k := range r.known {
		if k.is(memory) {
			k.uses++
			return
		}
	}
	r.known = append(r.known, &known{memory: memory, uses: 1})
}

func (r *registry) remove(memory []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range r.known {
		if !k.is(memory) {
			continue
		}
		if k.uses--; k.uses > 0 {
			return nil
		}
		r.known = append(r.known[:i], r.known[i+1:]...)
		return k.close()
	}
	return nil
}

// registered returns the known memory that all of b lies in, registered; nil if there is none.
func (r *registry) registered(b []byte) *known {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.known {
		if k.holds(b) && k.register(r.rails) {
			return k
		}
	}
	return nil
}

// withdraw ends registrations: the endpoint is not used again.
func (r *registry) withdraw(all [2]*known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range all {
		if k != nil {
			_ = k.close()
		}
	}
}

// close ends all registrations, and there are no others from now on.
func (r *registry) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.known {
		_ = k.close()
	}
	r.known, r.closed = nil, true
}

// is reports whether k is memory.
func (k *known) is(memory []byte) bool {
	return unsafe.SliceData(k.memory) == unsafe.SliceData(memory) && len(k.memory) == len(memory)
}

// holds reports whether all of b lies in k.
func (k *known) holds(b []byte) bool {
	at, n := uintptr(k.offset(b)), uintptr(len(k.memory))
	return at <= n && uintptr(len(b)) <= n-at
}

// offset returns where b begins in k; if it does not, it is beyond k's end, taken as a number without a sign.
func (k *known) offset(b []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(k.memory))))
}

// register has k registered with all rails, and tells whether it is. What could not be registered once is not tried
// again.
func (k *known) register(r *rails) bool {
	for i := 0; len(k.regions) < len(r.all) && !k.failed; i++ {
		region, err := r.all[i].Register(k.memory)
		if k.failed = err != nil; !k.failed {
			k.regions = append(k.regions, region)
		}
	}
	if k.failed {
		_ = k.close()
	}
	return !k.failed
}

// close ends the registration.
func (k *known) close() (err error) {
	for _, region := range k.regions {
		err = errors.Join(err, region.Close())
	}
	k.regions = nil
	return err
}
