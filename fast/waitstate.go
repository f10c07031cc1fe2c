package fast

import (
	"math"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/wire"
)

// waitState is what a rank is in that has waited without progress for a while; nil: it has not.
type waitState struct {
	position
	idle  time.Duration
	waits []int
	calls []wire.Call // in progress: a collective, or point-to-point calls
	needs exec.Needs  // of the collective
	begun uint64      // how many collectives it has begun, if the records say so; or unknown
}

// unknown is more than any number of a call.
const unknown = math.MaxUint64

// position is where a rank stands: it has moved if that has changed.
type position struct {
	number uint64 // of its latest operation, by its own count
	moved  uint64 // by its transport
}

func (h *edge) position() position { return position{h.Number, h.Moved} }

// maxTogether is how many point-to-point calls a rank may make together and be in a ring that is found.
const maxTogether = 256

// waitState returns that of t now, for the search that takes time.
func (t *track) waitState() *waitState {
	if t == nil {
		return nil
	}
	return t.stands(t.times.still / 2)
}

// stands returns what t waits in, if it has waited without progress for so long. As its transport tells of an Exchange
// whom it waits for, all operations that it has begun are recorded.
func (t *track) stands(atLeast time.Duration) *waitState {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	first, idle, ok := t.idle(time.Since(t.clock.Origin()))
	if !ok || idle < atLeast || t.last-first.number >= maxTogether {
		t.stood = nil
		return nil
	}
	now := position{t.last, t.moved}
	if t.stood == nil || t.stood.position != now { // who has not moved waits for the same ranks, and need not be asked again
		t.stood = &waitState{position: now, waits: t.waits(), calls: t.callsFrom(first.number), needs: first.k.Needs,
			begun: t.begun(func(r *record) bool { return r.peer < 0 })}
	}
	if len(t.stood.waits) == 0 || len(t.stood.calls) == 0 {
		t.stood = nil
		return nil
	}
	s := *t.stood
	s.idle = idle
	return &s
}

// callsFrom returns the operations from that number on. The recorder is locked.
func (t *track) callsFrom(number uint64) (calls []wire.Call) {
	for ; number <= t.last; number++ {
		if r, ok := t.find(number); ok {
			calls = append(calls, r.call())
		}
	}
	return calls
}

// call returns what the others compare with theirs.
func (e *record) call() wire.Call {
	f := exec.Form{Collective: e.k, Type: e.elem, Algorithm: e.a, Depth: int(e.depth),
		Args: exec.Args{Count: e.count, Op: e.op, Root: int(e.root), Peer: int(max(e.peer, 0))}}
	c := f.Describe()
	c.Seq = e.seq
	return c
}

// edge returns that of rank, whose wait state is s, in which it waits for another one, if it does.
func (s *waitState) edge(rank, waitsFor int) (edge, bool) {
	if s == nil || !slices.Contains(s.waits, waitsFor) {
		return edge{}, false
	}
	for i := range s.calls {
		if c := s.calls[i]; c.Peer == 0 || c.IsBetween(rank, waitsFor) {
			return s.in(rank, &c), true
		}
	}
	return edge{}, false
}

// in returns the edge of rank, whose wait state is s, in call c.
func (s *waitState) in(rank int, c *wire.Call) edge {
	return edge{Rank: uint32(rank), Number: s.number, Moved: s.moved, Begun: s.begun, Call: *c}
}

// isAt reports whether the rank whose wait state is s stands where h says, and has not moved since.
func (s *waitState) isAt(h *edge) bool {
	return s != nil && s.position == h.position() && slices.Contains(s.calls, h.Call)
}

// blocks reports whether h waits for rank, whose wait state is s, until that goes on. If both are in point-to-point
// calls between the two it need not be so: these messages move by themselves, or the two find out why not.
func (s *waitState) blocks(h *edge, rank int) bool {
	return h.Call.Peer == 0 || !slices.ContainsFunc(s.calls, func(c wire.Call) bool { return c.IsBetween(rank, int(h.Rank)) })
}

// departs reports whether the rank whose wait state is s may be where the proof of an algorithm says nothing about h:
// one of the two is in a point-to-point call, or in another collective, but not in one that h has yet to come to by
// itself.
func (s *waitState) departs(h *edge) bool {
	theirs := &s.calls[0]
	switch {
	case h.Call.Peer != 0 || theirs.Peer != 0 || theirs.Seq > h.Call.Seq:
		return true
	case theirs.Seq < h.Call.Seq:
		return false
	}
	return theirs.Fingerprint() != h.Call.Fingerprint()
}
