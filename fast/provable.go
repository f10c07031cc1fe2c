package fast

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Most rings need no time to be proved. A rank that receives goes on only after another one has begun to send, and a
// rank in a collective only after those that it Needs have begun that one; each of them begins nothing before its
// present call is over. So ranks of which each says what it is in, and that it has not begun what the one before it
// needs, never go on: that holds whatever is on its way, and however old the news are. What they say stays true.
//
// A rank that has waited in a receive for a moment sends a probe to the sender. One that receives itself passes it on
// to its own sender; it is at its end at a rank whose collective needs one of those that have passed it on, or that was
// there before. That one asks the others to confirm what the probe says of them, so that nobody can lie about another
// one. Two ranks that both receive from each other find out by their transport.
//
// The search that takes time (see detector) is for what is left: sends, which may end when their data have gone, and
// collectives of which a rank waits for another one that its result does not depend on.

// receive returns the edge of rank, whose wait state is s, that waits for the last of the messages that it receives
// from another.
func (s *waitState) receive(rank, from int) (edge, bool) {
	for i := range slices.Backward(s.Calls) {
		if c := &s.Calls[i]; isReceive(c, rank, from) && slices.Contains(s.Waits, from) {
			return s.in(rank, c), true
		}
	}
	return edge{}, false
}

// isReceive reports whether c is a receive of rank's from another one. One of no elements is none: nothing is sent for
// it, so that nobody waits for it.
func isReceive(c *wire.Call, rank, from int) bool {
	return c.Count > 0 && int(c.Root) == from && int64(c.Peer) == int64(rank)+1
}

// owes reports whether this rank, whose wait state is s, has not begun what h needs of it: the send that h receives, or
// h's collective.
func (c *detector) owes(s *waitState, h *edge) bool {
	if h.Call.Peer == 0 {
		return s.Begun < h.Call.Seq
	}
	return isReceive(&h.Call, int(h.Rank), c.comm.rank) && c.comm.track.SendsBegun(int(h.Rank)) < h.Call.Seq
}

// prove takes a probe of ranks that receive: it passes it on, or has found a ring.
func (c *detector) prove(from int, p *probe) {
	s, last := c.comm.waitState(0), &p.path[len(p.path)-1]
	if s == nil || int(last.Rank) != from || from == c.comm.rank || !c.owes(s, last) {
		return
	}
	ring := c.close(s, p.path)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ring == nil && placeIn(p.path, c.comm.rank) < 0 && c.isNew(&p.path[0], p.Round):
		c.passOn(s, p)
	case ring != nil && !c.proves:
		c.ring, c.proves, c.silences = ring, true, 0
		c.ask()
	}
}

// close returns the ring of this rank, whose wait state is s, with some of those of path, of which the last one waits
// for it, and each of the others for the next; nil: there is none.
func (c *detector) close(s *waitState, path []edge) []edge {
	self, mine := c.comm.rank, &s.Calls[0]
	if at := placeIn(path, self); at >= 0 && len(path)-at > 2 && s.isIn(&path[at]) {
		return path[at:]
	}
	if mine.Peer != 0 {
		return nil
	}
	for i := range slices.Backward(path) {
		if h := &path[i]; h.Begun < mine.Seq && s.Needs.Needs(self, int(h.Rank), int(mine.Root)) {
			return append([]edge{s.in(self, mine)}, path[i:]...)
		}
	}
	return nil
}

// isIn reports whether the rank whose wait state is s is in the call in which h says that it is.
func (s *waitState) isIn(h *edge) bool {
	return s != nil && s.Number == h.Number && s.Begun == h.Begun && slices.Contains(s.Calls, h.Call)
}

// verifies reports whether it is true what a ring says of this rank, whose place in it is at: it receives from the next
// one, and owes the one before it.
func (c *detector) verifies(ring []edge, at int) bool {
	s, h, next := c.comm.waitState(0), &ring[at], &ring[(at+1)%len(ring)]
	return s.isIn(h) && isReceive(&h.Call, c.comm.rank, int(next.Rank)) && c.owes(s, &ring[at-1])
}
