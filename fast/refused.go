package fast

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// refusals are handles of calls that were refused when they were to be started, for Close: nobody may ask for their
// errors.
type refusals struct {
	mu  sync.Mutex
	all []*Handle
}

// maxRefusals is how many of them are kept that nobody has asked for.
const maxRefusals = 16

// refused takes note that a call with these options was refused.
func (c *Comm) refused(opts []Option) {
	h := handleOf(opts)
	if c == nil || h == nil || h.again {
		return
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	r := &c.refusals
	r.all = slices.DeleteFunc(r.all, func(h *Handle) bool { return h.seen.Load() })
	if len(r.all) < maxRefusals {
		r.all = append(r.all, h)
	}
}

// unseen returns the errors of those that nobody has asked for.
func (r *refusals) unseen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, h := range r.all {
		if h.ended.Load() && !h.seen.Load() {
			errs = append(errs, fmt.Errorf("a call was not started, and nobody waited for it: %w", h.err))
		}
	}
	r.all = nil
	return errors.Join(errs...)
}
