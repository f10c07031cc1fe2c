package linkbase

import (
	"slices"
	"sync"
)

// Awaited is the ranks that a rank has been waiting for for a while. Set and Clear are for the goroutine in an
// Exchange, Ranks for any.
type Awaited struct {
	some  bool // there are ranks; only the goroutine in the Exchange looks
	mu    sync.Mutex
	ranks []int
}

// Set has Ranks return these, which are in any order.
func (a *Awaited) Set(ranks []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranks, a.some = append(a.ranks[:0], ranks...), len(ranks) > 0
	slices.Sort(a.ranks)
}

// Clear has Ranks return none, because the rank has gone on. It costs little where there are none, as there mostly are.
func (a *Awaited) Clear() {
	if a.some {
		a.Set(nil)
	}
}

// Ranks returns the ranks that were set, in ascending order.
func (a *Awaited) Ranks() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ranks)
}
