package flight

import (
	"math"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Stall is what a rank is waiting in that has made no progress for a while.
type Stall struct {
	Position
	Idle  time.Duration // how long there has been none
	Waits []int         // the ranks that it waits for
	Calls []wire.Call   // in progress: one collective, or point-to-point calls
	Free  []wire.Call   // in progress, too: the rank need not wait for them
	Needs exec.Needs    // of the collective
	Begun uint64        // how many collectives the rank has begun, or Unknown, if the records do not go back far enough
}

// Unknown is more than any number of a call.
const Unknown = math.MaxUint64

// Position is where a rank is: it has made progress if that has changed.
type Position struct {
	Number uint64 // of its latest operation, as its recorder counts them
	Moved  uint64 // by its transport
}

// maxTogether is how many point-to-point calls may be in progress together in a Stall.
const maxTogether = 256

// Stall returns what t is waiting in if it has made no progress for atLeast, or nil. All operations that it has begun
// are recorded by then, because its transport is in an Exchange.
func (t *Track) Stall(atLeast time.Duration) *Stall {
	if t == nil {
		return nil
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	first, idle, ok := t.idle(time.Since(t.r.Clock.Origin()))
	if !ok || idle < atLeast || t.unheeded() || len(t.posted) > maxTogether {
		t.stall = nil
		return nil
	}
	now := Position{t.newest, t.moved}
	if t.stall == nil || t.stall.Position != now { // without progress it is still waiting for the same ranks
		t.stall = &Stall{Position: now, Waits: t.waits(), Needs: first.k.Needs,
			Begun: t.lastSeq(func(r *record) bool { return r.peer < 0 })}
		t.stall.list(t.heeded(), t.postedCalls(false), t.Rank)
	}
	if len(t.stall.Waits) == 0 || len(t.stall.Calls) == 0 {
		t.stall = nil
		return nil
	}
	s := *t.stall
	s.Idle = idle
	return &s
}

// list lists calls in progress of a rank. It leaves out of the ranks that it waits for those of free calls alone.
func (s *Stall) list(calls, free []record, rank int) {
	for i := range calls {
		s.Calls = append(s.Calls, calls[i].call())
	}
	for i := range free {
		s.Free = append(s.Free, free[i].call())
	}
	s.Waits = slices.DeleteFunc(s.Waits, func(waits int) bool {
		return !slices.ContainsFunc(s.Calls, func(c wire.Call) bool { return c.Peer == 0 || c.IsBetween(rank, waits) })
	})
}

// call returns the description of e that ranks compare.
func (e *record) call() wire.Call {
	f := e.form()
	c := f.Describe()
	c.Op |= e.op & wire.Reproducible
	c.Seq = e.seq
	return c
}

// form returns what e is a call of, but for whether its op is reproducible.
func (e *record) form() exec.Form {
	f := exec.Form{Collective: e.k, Type: e.elem, Algorithm: e.a, Depth: int(e.depth), Local: int(e.local),
		Args: exec.Args{Count: e.count, Op: spec.Op(e.op &^ wire.Reproducible), Root: int(e.root), Peer: int(max(e.peer, 0))}}
	return f.Labelled(e.label)
}

// latest calls f with the records of t, the latest first, until f returns false. The recorder is locked.
func (t *Track) latest(f func(r *record) bool) {
	n := len(t.r.ring)
	for back := range int(min(t.r.made, uint64(n))) {
		if r := &t.r.ring[(t.r.at-back+n)%n]; r.track == t && !f(r) {
			return
		}
	}
}

// lastSeq returns the number of the latest call for which is holds, 0 if there is none, or Unknown. The recorder is
// locked.
func (t *Track) lastSeq(is func(r *record) bool) (seq uint64) {
	if t.r.made > uint64(len(t.r.ring)) {
		seq = Unknown
	}
	t.latest(func(r *record) bool {
		found := is(r)
		if found {
			seq = r.seq
		}
		return !found
	})
	return seq
}

// SendsBegun returns the number of the latest send to a rank, 0 if there is none, or Unknown.
func (t *Track) SendsBegun(to int) uint64 {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	return t.lastSeq(func(r *record) bool { return int(r.peer) == to && int(r.root) == t.Rank })
}

// LastCollectives returns the collectives of t that were begun last, the latest first, and not more than atMost.
func (t *Track) LastCollectives(atMost int) (calls []wire.Call) {
	if t == nil {
		return nil
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.latest(func(r *record) bool {
		if len(calls) == atMost {
			return false
		}
		if r.peer < 0 {
			calls = append(calls, r.call())
		}
		return true
	})
	return calls
}
