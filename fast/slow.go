package fast

import (
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/collgen/collgen/fast/internal/transport"
)

// slowCall is how long a call may make no progress before it is warned of, unless an option says otherwise.
const slowCall = 10 * time.Second

// shortestSlow is the least that an option may say instead.
const shortestSlow = time.Millisecond

// look has a timer look for slow calls. It is set while calls are made, not by each of them. The recorder is locked.
func (r *recorder) look() {
	r.looks = true
	soon := min(r.slow/4, r.times.still/2, prompt)
	if r.timer == nil {
		r.timer = time.AfterFunc(soon, r.watch)
	} else {
		r.timer.Reset(soon)
	}
}

// watch warns of the calls that make no progress, has their ranks look for deadlocks, and looks again as long as any
// are running.
func (r *recorder) watch() {
	var slow []slowness
	var still []*detector
	r.mu.Lock()
	r.looks = false
	now := time.Since(r.clock.Origin())
	for t := range r.running() {
		if !r.looks {
			r.look()
		}
		if s, ok := t.slowness(now); ok && r.log != nil {
			slow = append(slow, s)
		}
		if _, idle, ok := t.idle(now); ok && idle >= prompt/2 && t.detector != nil {
			still = append(still, t.detector)
		}
	}
	r.mu.Unlock()
	for _, c := range still {
		c.look()
	}
	for _, s := range slow {
		s.warn(r.log)
	}
}

// running returns the communicators with operations in progress. The recorder is locked.
func (r *recorder) running() iter.Seq[*track] {
	return func(yield func(*track) bool) {
		for t := range r.tracks {
			if t.done.Load() < t.last && !yield(t) {
				return
			}
		}
	}
}

// slowness is a call that makes no progress.
type slowness struct {
	record
	comm        *Comm // nil: not known
	waiting     []int
	takes, idle time.Duration
}

// slowness returns the call of t that is running, if it is time to warn of it: first when nothing has moved for the
// recorder's time, as far as looks now and then can tell, and then whenever it has been twice as long. The recorder is
// locked.
func (t *track) slowness(now time.Duration) (slowness, bool) {
	first, idle, ok := t.idle(now)
	if !ok || idle < max(t.slow, 2*t.warned) {
		return slowness{}, false
	}
	t.warned = idle
	s := slowness{record: first, waiting: t.waits(), takes: now - t.clock.Elapsed(first.start), idle: idle}
	if t.detector != nil {
		s.comm = t.detector.comm
	}
	return s, true
}

// idle is for how long nothing has moved, as far as is known, and the first operation of those in progress. The
// recorder is locked.
func (t *track) idle(now time.Duration) (first record, idle time.Duration, ok bool) {
	if moved := transport.Moved(t.transport); moved != t.moved {
		t.moved, t.still, t.warned = moved, now, 0
	}
	first, ok = t.find(t.first)
	ok = ok && t.done.Load() < t.last
	return first, now - max(t.clock.Elapsed(first.start), t.still), ok
}

// find returns the record of an operation of t that is in progress. The recorder is locked.
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

// waits returns the ranks that the communicator's transport waits for. The recorder is locked.
func (t *track) waits() []int {
	if t.transport == nil {
		return nil
	}
	return t.transport.Waiting()
}

func (s *slowness) warn(log *slog.Logger) {
	about := []any{"primitive", s.k.Name, "algorithm", s.a.Name, "call", s.seq, "comm", s.track.name, "rank", s.track.rank, "size",
		s.track.size, "waiting", s.waiting, "seconds", s.idle.Round(time.Second).Seconds(), "running", s.takes.Round(time.Second).Seconds()}
	if known := s.known(); len(known) > 0 {
		about = append(about, "known", known)
	}
	log.Warn("a call makes no progress", about...)
}

// mostKnown is of how many ranks a warning says what they do.
const mostKnown = 4

// known returns what is known of what the ranks do that the call waits for, in words.
func (s *slowness) known() (words []string) {
	if s.comm == nil || s.comm.world.conditions == nil {
		return nil
	}
	ranks := s.waiting[:min(len(s.waiting), mostKnown)]
	var processes []int
	for _, r := range ranks {
		processes = append(processes, s.comm.process(r))
	}
	for i, c := range s.comm.world.conditions(processes) {
		words = append(words, fmt.Sprintf("rank %d: %s", ranks[i], c))
	}
	return words
}
