package rdma

import (
	"errors"
	"sync"
	"unsafe"
)

// regCache holds the memory that Know has announced. It has its own lock, because registering much memory takes long.
type regCache struct {
	rails *rails

	mu     sync.Mutex
	all    []*registration
	closed bool
}

// registration is memory that stays allocated. It is registered when the first long message lies in it.
type registration struct {
	memory  []byte
	regions []Region // one for each rail; nil: not registered
	uses    int      // how often it was announced
	failed  bool     // it cannot be registered
}

// Know lets long messages to and from memory go without a copy, until Forget. The memory must not be Go's. Memory that
// was announced several times has to be forgotten as often.
func (e *Endpoint) Know(memory []byte) { e.registered.add(memory) }

// Forget undoes a Know: the memory may then be freed. No Exchange may be in progress.
func (e *Endpoint) Forget(memory []byte) error { return e.registered.remove(memory) }

func (c *regCache) add(memory []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(memory) == 0 {
		return
	}
	for _, r := range c.all {
		if r.is(memory) {
			r.uses++
			return
		}
	}
	c.all = append(c.all, &registration{memory: memory, uses: 1})
}

func (c *regCache) remove(memory []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.all {
		if !r.is(memory) {
			continue
		}
		if r.uses--; r.uses > 0 {
			return nil
		}
		c.all = append(c.all[:i], c.all[i+1:]...)
		return r.close()
	}
	return nil
}

// find returns the memory that all of b lies in, registered, or nil if there is none.
func (c *regCache) find(b []byte) *registration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.all {
		if r.holds(b) && r.register(c.rails) {
			return r
		}
	}
	return nil
}

// deregister ends registrations, of an endpoint that is not used again.
func (c *regCache) deregister(all [2]*registration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range all {
		if r != nil {
			_ = r.close()
		}
	}
}

// close ends all registrations, and prevents new ones.
func (c *regCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.all {
		_ = r.close()
	}
	c.all, c.closed = nil, true
}

// is reports whether r is exactly memory.
func (r *registration) is(memory []byte) bool {
	return unsafe.SliceData(r.memory) == unsafe.SliceData(memory) && len(r.memory) == len(memory)
}

// holds reports whether all of b lies in r.
func (r *registration) holds(b []byte) bool {
	at, n := uintptr(r.offset(b)), uintptr(len(r.memory))
	return at <= n && uintptr(len(b)) <= n-at
}

// offset returns where b begins in r. If b lies elsewhere, the offset as an unsigned number is beyond the end of r.
func (r *registration) offset(b []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))))
}

// register registers r with all rails, unless it is, and reports whether it is registered. A failure is not retried.
func (r *registration) register(rails *rails) bool {
	for i := 0; len(r.regions) < len(rails.all) && !r.failed; i++ {
		region, err := rails.all[i].Register(r.memory)
		if r.failed = err != nil; !r.failed {
			r.regions = append(r.regions, region)
		}
	}
	if r.failed {
		_ = r.close()
	}
	return !r.failed
}

// close ends the registration.
func (r *registration) close() (err error) {
	for _, region := range r.regions {
		err = errors.Join(err, region.Close())
	}
	r.regions = nil
	return err
}
