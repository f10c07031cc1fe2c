package links

import (
	"slices"
	"sync"
)

// Awaited is whom a rank has waited for in vain. Tell and Forget are of the goroutine in an Exchange, Ranks of any.
type Awaited struct {
	told  bool // there are ranks
	mu    sync.Mutex
	ranks []int
}

// Tell has Ranks give these, which are in any order.
func (a *Awaited) Tell(ranks []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranks, a.told = append(a.ranks[:0], ranks...), true
	slices.Sort(a.ranks)
}

// Forget says that the rank has gone on.
func (a *Awaited) Forget() {
	if !a.told {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranks, a.told = a.ranks[:0], false
}

// Ranks are those that the rank waits for, in ascending order.
func (a *Awaited) Ranks() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ranks)
}
