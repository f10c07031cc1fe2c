package rdma

import (
	"errors"
	"unsafe"
)

// known is memory that lasts, and is registered with the first long message that lies in it.
type known struct {
	memory []byte
	region Region // nil: not registered
	uses   int    // how often it was made known
	failed bool   // it cannot be registered
}

// Know has long messages to and from memory go without a copy, until Forget. The memory is not Go's. What was made known several
// times has to be forgotten as often.
func (e *Endpoint) Know(memory []byte) {
	e.end.Lock()
	defer e.end.Unlock()
	if e.end.Closed() || len(memory) == 0 {
		return
	}
	for _, k := range e.known {
		if unsafe.SliceData(k.memory) == unsafe.SliceData(memory) && len(k.memory) == len(memory) {
			k.uses++
			return
		}
	}
	e.known = append(e.known, &known{memory: memory, uses: 1})
}

// Forget takes back a Know: then the memory may be freed. No Exchange is in progress.
func (e *Endpoint) Forget(memory []byte) error {
	e.end.Lock()
	defer e.end.Unlock()
	for i, k := range e.known {
		if unsafe.SliceData(k.memory) != unsafe.SliceData(memory) || len(k.memory) != len(memory) {
			continue
		}
		if k.uses--; k.uses > 0 {
			return nil
		}
		e.known = append(e.known[:i], e.known[i+1:]...)
		return k.close()
	}
	return nil
}

// registered is the known memory that all of b lies in, registered; nil if there is none.
func (e *Endpoint) registered(b []byte) *known {
	e.end.Lock()
	defer e.end.Unlock()
	for _, k := range e.known {
		if k.holds(b) && k.register(e.domain) {
			return k
		}
	}
	return nil
}

// holds tells whether all of b lies in k.
func (k *known) holds(b []byte) bool {
	at, n := uintptr(k.offset(b)), uintptr(len(k.memory))
	return at <= n && uintptr(len(b)) <= n-at
}

// offset is where b begins in k; if it does not, it is beyond k's end, taken as a number without a sign.
func (k *known) offset(b []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(k.memory))))
}

// register has k registered, and tells whether it is. What could not be registered once is not tried again.
func (k *known) register(d Domain) bool {
	if k.region != nil || k.failed {
		return k.region != nil
	}
	r, err := d.Register(k.memory)
	if k.failed = err != nil; !k.failed {
		k.region = r
	}
	return !k.failed
}

// close ends the registration.
func (k *known) close() error {
	if k.region == nil {
		return nil
	}
	r := k.region
	k.region = nil
	return r.Close()
}

// forgetAll ends all registrations. The endpoint is locked, or nobody else has it.
func (e *Endpoint) forgetAll() error {
	var errs []error
	for _, k := range e.known {
		errs = append(errs, k.close())
	}
	e.known = nil
	return errors.Join(errs...)
}
