package deadlock

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// waitState is what a rank is waiting in that has made no progress for a while; nil: there is progress, or no call.
type waitState flight.Stall

// edge returns the edge of rank, whose wait state is s, that waits for another one, if there is one.
func (s *waitState) edge(rank, waitsFor int) (edge, bool) {
	if s == nil || !slices.Contains(s.Waits, waitsFor) {
		return edge{}, false
	}
	for i := range s.Calls {
		if c := s.Calls[i]; c.Peer == 0 || c.IsBetween(rank, waitsFor) {
			return s.in(rank, &c), true
		}
	}
	return edge{}, false
}

// in returns the edge of rank, whose wait state is s, in call c.
func (s *waitState) in(rank int, c *wire.Call) edge {
	return edge{Rank: uint32(rank), Number: s.Number, Moved: s.Moved, Begun: s.Begun, Call: *c}
}

// isAt reports whether the rank whose wait state is s is where e says, and has made no progress since.
func (s *waitState) isAt(e *edge) bool {
	return s != nil && s.Position == e.position() && slices.Contains(s.Calls, e.Call)
}

// blocks reports whether e waits for rank, whose wait state is s, until that makes progress. If both are in
// point-to-point calls between the two, it may not: these messages move by themselves, or the two find out why not.
func (s *waitState) blocks(e *edge, rank int) bool {
	isBetween := func(c wire.Call) bool { return c.IsBetween(rank, int(e.Rank)) }
	return e.Call.Peer == 0 || !slices.ContainsFunc(s.Calls, isBetween) && !slices.ContainsFunc(s.Free, isBetween)
}

// departs reports whether the proof of an algorithm may say nothing about the rank whose wait state is s and e: one of
// the two is in a point-to-point call, or they are in different collectives. It is false if e will come to the rank's
// collective by itself.
func (s *waitState) departs(e *edge) bool {
	theirs := &s.Calls[0]
	switch {
	case e.Call.Peer != 0 || theirs.Peer != 0 || theirs.Seq > e.Call.Seq:
		return true
	case theirs.Seq < e.Call.Seq:
		return false
	}
	return theirs.Fingerprint() != e.Call.Fingerprint()
}
