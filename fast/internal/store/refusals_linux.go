package store

import (
	"slices"
	"sync"
)

// refusals are the reasons why the local store has sent somebody away: the last few.
type refusals struct {
	mu   sync.Mutex
	last []string
}

const refusalsKept = 4

func (r *refusals) add(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, err.Error())
	r.last = r.last[max(0, len(r.last)-refusalsKept):]
}

func (r *refusals) words() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}
