package deadlock

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Most rings need no time to be proved. A rank that receives goes on only after another one has begun to send. A rank
// in a collective goes on only after the ranks that it Needs have begun it. Each of these begins nothing before its
// present call is over. So take ranks each of which says which call it is in, and that it has not begun what the one
// before it needs. They never go on, no matter what is on its way or how old the statements are: they stay true.
//
// A rank that has waited in a receive for a moment sends a probe to the sender. If that receives itself, it passes the
// probe on to its own sender. The probe ends at a rank whose collective needs one of those that have passed it on, or
// at one that is on its path already. That rank asks the others to confirm what the probe says of them, so that nobody
// can lie about another rank. Two ranks that both receive from each other find out by their transport.
//
// The search that takes time is for the rest: sends, which may end when their data have gone, and collectives in which
// a rank waits for another one that its result does not depend on.

// receive returns the edge of rank, whose wait state is s, that waits for the last of the messages that it receives
// from another one.
func (s *waitState) receive(rank, from int) (edge, bool) {
	for i := range slices.Backward(s.Calls) {
		if c := &s.Calls[i]; isReceive(c, rank, from) && slices.Contains(s.Waits, from) {
			return s.in(rank, c), true
		}
	}
	return edge{}, false
}

// isReceive reports whether c is a receive of rank from another one. A receive of no elements does not count: nothing
// is sent for it, so nobody waits for it.
func isReceive(c *wire.Call, rank, from int) bool {
	return c.Count > 0 && int(c.Root) == from && int64(c.Peer) == int64(rank)+1
}

// owes reports whether this rank, whose wait state is s, has not begun what e needs of it: the send that e receives, or
// e's collective.
func (d *Detector) owes(s *waitState, e *edge) bool {
	if e.Call.Peer == 0 {
		return s.Begun < e.Call.Seq
	}
	return isReceive(&e.Call, int(e.Rank), d.rank) && d.record.SendsBegun(int(e.Rank)) < e.Call.Seq
}

// prove takes a probe of ranks that receive: it passes it on, or has found a ring.
func (d *Detector) prove(from int, p *probe) {
	s, last := d.stall(0), &p.path[len(p.path)-1]
	if s == nil || int(last.Rank) != from || from == d.rank || !d.owes(s, last) {
		return
	}
	ring := d.close(s, p.path)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case ring == nil && indexOf(p.path, d.rank) < 0 && d.isNew(&p.path[0], p.Round):
		d.passOn(s, p)
	case ring != nil && !d.proves:
		d.ring, d.proves, d.silences = ring, true, 0
		d.ask()
	}
}

// close returns the ring, if there is one, of this rank, whose wait state is s, and ranks of path. On path, each rank
// waits for the next, and the last one for this rank.
func (d *Detector) close(s *waitState, path []edge) []edge {
	mine := &s.Calls[0]
	if at := indexOf(path, d.rank); at >= 0 && len(path)-at > 2 && s.isIn(&path[at]) {
		return path[at:]
	}
	if mine.Peer != 0 {
		return nil
	}
	for i := range slices.Backward(path) {
		if e := &path[i]; e.Begun < mine.Seq && s.Needs.Needs(d.rank, int(e.Rank), int(mine.Root)) {
			return append([]edge{s.in(d.rank, mine)}, path[i:]...)
		}
	}
	return nil
}

// isIn reports whether the rank whose wait state is s is in the call in which e says that it is.
func (s *waitState) isIn(e *edge) bool {
	return s != nil && s.Number == e.Number && s.Begun == e.Begun && slices.Contains(s.Calls, e.Call)
}

// verifies reports whether a ring is right about this rank, which is ring[at]: it receives from the next one, and owes
// the one before it.
func (d *Detector) verifies(ring []edge, at int) bool {
	s, e, next := d.stall(0), &ring[at], &ring[(at+1)%len(ring)]
	return s.isIn(e) && isReceive(&e.Call, d.rank, int(next.Rank)) && d.owes(s, &ring[at-1])
}
