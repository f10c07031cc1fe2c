package fast

import (
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/flight"

	"github.com/collgen/collgen/fast/internal/wire"
)

// waitState is what a rank is in that has waited without progress for a while; nil: it has not.
type waitState flight.Stall

// waitState returns that of this rank now, if it has waited for so long.
func (c *Comm) waitState(atLeast time.Duration) *waitState {
	return (*waitState)(c.track.Stall(atLeast))
}

func (h *edge) position() flight.Position { return flight.Position{Number: h.Number, Moved: h.Moved} }

// edge returns that of rank, whose wait state is s, in which it waits for another one, if it does.
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

// isAt reports whether the rank whose wait state is s stands where h says, and has not moved since.
func (s *waitState) isAt(h *edge) bool {
	return s != nil && s.Position == h.position() && slices.Contains(s.Calls, h.Call)
}

// blocks reports whether h waits for rank, whose wait state is s, until that goes on. If both are in point-to-point
// calls between the two it need not be so: these messages move by themselves, or the two find out why not.
func (s *waitState) blocks(h *edge, rank int) bool {
	return h.Call.Peer == 0 || !slices.ContainsFunc(s.Calls, func(c wire.Call) bool { return c.IsBetween(rank, int(h.Rank)) })
}

// departs reports whether the rank whose wait state is s may be where the proof of an algorithm says nothing about h:
// one of the two is in a point-to-point call, or in another collective, but not in one that h has yet to come to by
// itself.
func (s *waitState) departs(h *edge) bool {
	theirs := &s.Calls[0]
	switch {
	case h.Call.Peer != 0 || theirs.Peer != 0 || theirs.Seq > h.Call.Seq:
		return true
	case theirs.Seq < h.Call.Seq:
		return false
	}
	return theirs.Fingerprint() != h.Call.Fingerprint()
}
