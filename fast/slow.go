package fast

import (
	"iter"
	"log/slog"
	"time"
)

// slowCall is how long a call may take before it is warned of, unless an option says otherwise.
const slowCall = 10 * time.Second

// look has a timer look for slow calls. It is set while calls are made, not by each of them. The recorder is locked.
func (r *recorder) look() {
	r.looks = true
	switch {
	case r.log == nil:
	case r.timer == nil:
		r.timer = time.AfterFunc(r.slow/4, r.watch)
	default:
		r.timer.Reset(r.slow / 4)
	}
}

// watch warns of the calls that are slow, and looks again as long as any are in progress.
func (r *recorder) watch() {
	var slow []slowness
	r.mu.Lock()
	r.looks = false
	for t := range r.running() {
		if !r.looks {
			r.look()
		}
		if s, ok := t.slowness(time.Since(r.clock.Origin())); ok {
			slow = append(slow, s)
		}
	}
	r.mu.Unlock()
	for _, s := range slow {
		s.warn(r.log)
	}
}

// running are the communicators with operations in progress. The recorder is locked.
func (r *recorder) running() iter.Seq[*track] {
	return func(yield func(*track) bool) {
		for t := range r.tracks {
			if t.done.Load() < t.last && !yield(t) {
				return
			}
		}
	}
}

// slowness is a call that takes long.
type slowness struct {
	record
	waiting []int
	takes   time.Duration
}

// slowness is the call of t that is in progress, if it is time to warn of it: first after the recorder's time, and then
// whenever it has taken twice as long. The recorder is locked.
func (t *track) slowness(now time.Duration) (slowness, bool) {
	e, ok := t.find(t.first)
	takes := now - t.clock.Elapsed(e.start)
	if !ok || takes < max(t.slow, 2*t.warned) {
		return slowness{}, false
	}
	t.warned = takes
	return slowness{e, t.waits(), takes}, true
}

// find is the record of an operation of t that is in progress. The recorder is locked.
func (t *track) find(number uint64) (record, bool) {
	if r := t.ring[number%uint64(len(t.ring))]; r.number == number {
		return r, true
	}
	for _, r := range t.kept {
		if r.number == number {
			return r, true
		}
	}
	return record{}, false
}

// waits are the ranks that the communicator's transport waits for. The recorder is locked.
func (t *track) waits() []int {
	if t.waiting == nil {
		return nil
	}
	return t.waiting()
}

func (s *slowness) warn(log *slog.Logger) {
	log.Warn("a call is slow", "primitive", s.k.Name, "algorithm", s.a.Name, "call", s.seq, "comm", s.track.name,
		"rank", s.track.rank, "size", s.track.size, "waiting", s.waiting, "seconds", s.takes.Round(time.Second).Seconds())
}
