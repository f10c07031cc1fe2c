package store

import (
	"log/slog"
	"slices"
	"sync"
)

// refusals are the reasons why the local store has sent somebody away: the last few that differ.
type refusals struct {
	log  *slog.Logger // is warned of the first few; nil: nobody is
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
	if slices.Contains(r.last, err.Error()) {
		return
	}
	if r.log != nil && len(r.last) < refusalsKept {
		r.log.Warn("a process was sent away", "error", err)
	}
	r.last = append(r.last, err.Error())
	r.last = r.last[max(0, len(r.last)-refusalsKept):]
}

func (r *refusals) words() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}
