package flight

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/exec"
)

// posted is a point-to-point call in progress that began and ends by itself, beside others.
type posted struct {
	record
	heeded bool // the rank begins no other call before it is over
}

// Post records that a call begins that ends by itself, and returns its number.
func (t *Track) Post(p *exec.Prepared, seq uint64, bytes int) (number uint64) {
	start := t.r.Clock.Now()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if !t.isRunning() {
		t.warned = 0
	}
	place := t.add(p, seq, bytes, start)
	t.posted = append(t.posted, posted{record: *place})
	return place.number
}

// Over records that the call with that number, which Post has returned, is over.
func (t *Track) Over(number uint64) {
	now := t.r.Clock.Now()
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if i := t.indexOf(number); i >= 0 {
		t.posted = slices.Delete(t.posted, i, i+1)
		t.setEnd(number, now)
		t.stall = nil
	}
}

// Heed records whether the rank begins no other call before that one is over. Only such a call is part of a deadlock,
// and warned of.
func (t *Track) Heed(number uint64, heeded bool) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if i := t.indexOf(number); i >= 0 {
		t.posted[i].heeded = heeded
		t.stall = nil
	}
}

// indexOf returns the index of the call with that number in posted, or -1. The recorder is locked.
func (t *Track) indexOf(number uint64) int {
	return slices.IndexFunc(t.posted, func(p posted) bool { return p.number == number })
}

// heeded returns the calls in progress for which the rank waits. The recorder is locked.
func (t *Track) heeded() (all []record) {
	for n := t.first; n <= t.last && t.done.Load() < t.last; n++ {
		if r, ok := t.find(n); ok {
			all = append(all, r)
		}
	}
	return append(all, t.postedCalls(true)...)
}

// postedCalls returns the calls in progress that were posted, those that are heeded or the others. The recorder is
// locked.
func (t *Track) postedCalls(heeded bool) (all []record) {
	for i := range t.posted {
		if p := &t.posted[i]; p.heeded == heeded && t.failure == "" {
			all = append(all, p.record)
		}
	}
	return all
}

// firstHeeded returns the first call in progress for which the rank waits, or else the first one; !ok: there is none.
// The recorder is locked.
func (t *Track) firstHeeded() (r record, ok bool) {
	if t.done.Load() < t.last {
		return t.find(t.first)
	}
	if t.failure != "" || len(t.posted) == 0 {
		return record{}, false
	}
	i := max(0, slices.IndexFunc(t.posted, func(p posted) bool { return p.heeded }))
	return t.posted[i].record, true
}

// unheeded reports whether the rank waits for none of the calls in progress. The recorder is locked.
func (t *Track) unheeded() bool {
	return t.done.Load() == t.last && !slices.ContainsFunc(t.posted, func(p posted) bool { return p.heeded })
}

// isRunning reports whether calls of t are in progress. The recorder is locked.
func (t *Track) isRunning() bool {
	return t.done.Load() < t.last || len(t.posted) > 0 && t.failure == ""
}
