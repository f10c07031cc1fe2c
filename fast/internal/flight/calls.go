package flight

import (
	"cmp"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/trace"
)

// Calls returns the calls in progress of the rank, those of t first, and not more than atMost; and the call of t that
// is over and began last, nil if none is recorded.
func (t *Track) Calls(atMost int) (running []health.Call, last *health.Call) {
	if t == nil {
		return nil, nil
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	now := time.Since(t.r.Clock.Origin())
	running = t.inProgress(now, atMost)
	byID := func(a, b *Track) int { return cmp.Compare(a.ID, b.ID) }
	for _, other := range slices.SortedFunc(t.r.running(), byID) {
		if other != t {
			running = append(running, other.inProgress(now, atMost-len(running))...)
		}
	}
	t.latest(func(r *record) bool {
		state := t.state(r.number)
		if state == trace.Running {
			return true
		}
		c := r.health(now)
		c.Failed = state == trace.Failed
		last = &c
		return false
	})
	return running, last
}

// inProgress returns the calls of t in progress, and not more than atMost. The recorder is locked.
func (t *Track) inProgress(now time.Duration, atMost int) (calls []health.Call) {
	_, still, ok := t.idle(now)
	if !ok {
		return nil
	}
	waits := failure.Listed(t.waitsOrWaited())
	for _, r := range append(t.heeded(), t.postedCalls(false)...) {
		if len(calls) < atMost {
			c := r.health(now)
			c.Still, c.Waiting = max(0, still), waits
			calls = append(calls, c)
		}
	}
	return calls
}

// waitsOrWaited returns the ranks that the communicator's transport waits for. A transport may not tell again right
// after it was asked: then they are those of the last time, unless there was progress. The recorder is locked.
func (t *Track) waitsOrWaited() []int {
	now, waits := Position{t.newest, t.moved}, t.waits()
	if len(waits) > 0 || t.waited.Position != now {
		t.waited = waited{now, waits}
	}
	return t.waited.ranks
}

// waited is for which ranks a communicator has waited at a position.
type waited struct {
	Position
	ranks []int
}

// health returns the description of e at a time after the origin.
func (e *record) health(now time.Duration) health.Call {
	c := health.Call{Comm: failure.OneLine(e.track.Name), Op: failure.OneLine(e.k.Name), Label: e.label, Seq: e.seq,
		Peer: -1, Begun: max(0, now-e.track.r.Clock.Elapsed(e.start))}
	if e.peer >= 0 {
		c.Peer = int(e.root) + int(e.peer) - e.track.Rank
	}
	return c
}
