package flight

import (
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// DefaultSlow is how long a call may make no progress before a warning, and MinSlow the least that an option may set
// instead.
const (
	DefaultSlow = 10 * time.Second
	MinSlow     = time.Millisecond
)

// Prompt is the longest time between two looks for calls without progress.
const Prompt = 100 * time.Millisecond

// setTimer has a timer look for calls without progress. It is set while calls are made, not by each of them. The
// recorder is locked.
func (r *Recorder) setTimer() {
	r.timerSet = true
	soon := min(r.Slow/4, Prompt)
	if r.Interval > 0 {
		soon = min(soon, r.Interval)
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(soon, r.watch)
	} else {
		r.timer.Reset(soon)
	}
}

// watch warns of the calls that make no progress, calls their OnIdle, and sets the timer again if any call is running.
func (r *Recorder) watch() {
	var slow []slowCall
	var idle []func()
	r.mu.Lock()
	r.timerSet = false
	now := time.Since(r.Clock.Origin())
	for t := range r.running() {
		if !r.timerSet {
			r.setTimer()
		}
		if s, ok := t.slowCall(now); ok && (r.Log != nil || t.OnSlow != nil) {
			slow = append(slow, s)
		}
		if _, still, ok := t.idle(now); ok && still >= Prompt/2 && t.OnIdle != nil {
			idle = append(idle, t.OnIdle)
		}
	}
	r.mu.Unlock()
	for _, f := range idle {
		f()
	}
	for _, s := range slow {
		s.known = s.conditions()
		if r.Log != nil {
			s.warn(r.Log)
		}
		if s.OnSlow != nil {
			s.OnSlow(&Slow{Form: s.form(), Op: s.op, Seq: s.seq, Bytes: s.bytes, Still: s.still, Running: s.running,
				Waiting: s.waiting, Known: s.known})
		}
	}
}

// running returns the communicators with operations in progress. The recorder is locked.
func (r *Recorder) running() iter.Seq[*Track] {
	return func(yield func(*Track) bool) {
		for t := range r.tracks {
			if t.isRunning() && !yield(t) {
				return
			}
		}
	}
}

// Slow is a call that makes no progress.
type Slow struct {
	Form           exec.Form
	Op             uint32 // as ranks compare it
	Seq            uint64
	Bytes          int           // of the larger of the rank's buffers
	Still, Running time.Duration // how long it makes no progress, and has been running
	Waiting        []int         // the ranks that it waits for
	Known          []string      // what is known of their state
}

// slowCall is a call that makes no progress.
type slowCall struct {
	record
	Communicator
	waiting        []int
	running, still time.Duration // how long it has been running, and without progress
	known          []string
}

// slowCall returns the running call of t if a warning of it is due: first when there was no progress for the recorder's
// time, and then whenever that has doubled. The recorder is locked.
func (t *Track) slowCall(now time.Duration) (slowCall, bool) {
	first, still, ok := t.idle(now)
	if !ok || t.unheeded() || still < max(t.r.Slow, 2*t.warned) {
		return slowCall{}, false
	}
	t.warned = still
	return slowCall{record: first, Communicator: t.Communicator, waiting: t.waits(), still: still,
		running: now - t.r.Clock.Elapsed(first.start)}, true
}

// idle returns how long no progress was seen, and the first of the operations in progress; !ok: there are none. The
// recorder is locked.
func (t *Track) idle(now time.Duration) (first record, still time.Duration, ok bool) {
	if moved := transport.Moved(t.Transport); moved != t.moved {
		t.moved, t.still, t.warned = moved, now, 0
	}
	first, ok = t.firstHeeded()
	return first, now - max(t.r.Clock.Elapsed(first.start), t.still), ok
}

// waits returns the ranks that the communicator's transport waits for. The recorder is locked.
func (t *Track) waits() []int {
	if t.Transport == nil {
		return nil
	}
	return t.Transport.Waiting()
}

func (s *slowCall) warn(log *slog.Logger) {
	about := []any{"primitive", s.k.Name, "algorithm", s.a.Name, "call", s.seq, "comm", s.Name, "rank", s.Rank,
		"size", s.Size, "waiting", wire.Listed(s.waiting), "seconds", s.still.Round(time.Second).Seconds(),
		"running", s.running.Round(time.Second).Seconds()}
	if s.label != "" {
		about = slices.Insert(about, 2, any("label"), any(s.label))
	}
	if len(s.known) > 0 {
		about = append(about, "known", s.known)
	}
	log.Warn("a call makes no progress", about...)
}

// maxKnown is the number of ranks whose conditions a warning lists.
const maxKnown = 4

// conditions returns what is known of the state of the ranks that the call waits for, in words.
func (s *slowCall) conditions() (words []string) {
	if s.Conditions == nil {
		return nil
	}
	ranks := s.waiting[:min(len(s.waiting), maxKnown)]
	for i, c := range s.Conditions(ranks) {
		words = append(words, fmt.Sprintf("rank %d: %s", ranks[i], c))
	}
	return words
}
