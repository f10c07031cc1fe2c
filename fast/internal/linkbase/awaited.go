package linkbase

import (
	"slices"
	"sync"
)

// awaited is whom a rank has waited for in vain. set and forget are of the goroutine in an Exchange, get of any.
type awaited struct {
	told  bool // there are ranks
	mu    sync.Mutex
	ranks []int
}

// set has get give these, which are in any order.
func (a *awaited) set(ranks []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranks, a.told = append(a.ranks[:0], ranks...), len(ranks) > 0
	slices.Sort(a.ranks)
}

// forget says that the rank has gone on. It has most often waited for nobody.
func (a *awaited) forget() {
	if a.told {
		a.set(nil)
	}
}

// get returns those that the rank waits for, in ascending order.
func (a *awaited) get() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ranks)
}
