package simulate

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// maxInFlight is how many messages there may be at one time, each of which takes some 500 bytes, with its segments.
const maxInFlight = 4 << 20

// post begins a send or a receive of rank r.
func (w *world) post(r int32, in *gen.Instr, bytes int, again bool) error {
	sends, peer := in.Kind == gen.SendInstr, int32(in.Peer)
	p := pair{peer, r}
	if sends {
		p = pair{r, peer}
	}
	p = w.fold.pair(p)
	id, m := w.meet(p, sends)
	if w.messages.inUse() > maxInFlight {
		return &LimitError{fmt.Sprintf("more than %d messages are in flight at once: the simulator's memory is for fewer; "+
			"take fewer ranks, or an algorithm in more steps", maxInFlight)}
	}
	switch {
	case sends && m.posted, !sends && m.sent:
		if m.bytes != bytes {
			return fmt.Errorf("the ends of a message from rank %d to rank %d differ: %d bytes and %d", p.from, p.to, m.bytes,
				bytes)
		}
	default:
		m.pair, m.bytes = p, bytes
	}
	if sends {
		m.sent, m.shared = true, again && w.tariffOf(p).share
		w.sent++
		w.bytes += bytes
		w.depart(id)
		return nil
	}
	m.posted, m.folds = true, in.Kind == gen.RecvReduceInstr
	if w.beside(p) {
		w.ranks[r].beside++
	}
	m.lent = in.Lend && bytes <= w.tariffOf(p).lend
	for _, s := range m.waiting {
		w.give(r, work{taking, s})
	}
	m.waiting = nil
	return nil
}

// meet returns the message whose other end is there already, or a new one.
func (w *world) meet(p pair, sends bool) (int32, *message) {
	l, waits := w.open[p]
	if waits {
		if m := w.messages.at(l.first); m.sent != sends {
			id := l.first
			if l.first = m.next; id == l.last {
				delete(w.open, p)
			} else {
				w.open[p] = l
			}
			return id, m
		}
	}
	id := w.messages.take()
	if waits {
		w.messages.at(l.last).next = id
	} else {
		l.first = id
	}
	l.last = id
	w.open[p] = l
	return id, w.messages.at(id)
}

// putCost returns when the next segment of a message has been put on its way.
func (w *world) putCost(at moment, id int32) moment {
	m := w.messages.at(id)
	t := w.tariffOf(m.pair)
	if m.put == 0 {
		at = at.plus(Overhead, t.overhead)
	}
	if m.shared {
		return at
	}
	return at.plus(Copying, ofSeconds(t.put*float64(w.segmentBytes(m, m.put))))
}

// put sends the segment off.
func (w *world) put(r, id int32, at moment) error {
	m := w.messages.at(id)
	s := w.segments.take()
	*w.segments.at(s) = segment{message: id, bytes: w.segmentBytes(m, m.put), first: m.put == 0, head: at, tail: at}
	m.put++
	w.goOn(id)
	w.cross(s)
	if m.put == w.segmentsOf(m) && w.tariffOf(m.pair) == &w.near {
		return w.oneDone(r, at)
	}
	return nil
}

// leave is called when a message has left its sender's host.
func (w *world) leave(id int32) error {
	m := w.messages.at(id)
	return w.oneDone(m.from, m.left)
}

// arrive is called when a segment has arrived at its receiver's host. The receiver takes it if it has posted its
// receive.
func (w *world) arrive(s int32) {
	m := w.messages.at(w.segments.at(s).message)
	if m.posted {
		w.give(w.fold.rank(m.to), work{taking, s})
	} else {
		m.waiting = append(m.waiting, s)
	}
}

// takeCost returns when the receiver is done with a segment.
func (w *world) takeCost(at moment, id int32) moment {
	s := w.segments.at(id)
	m := w.messages.at(s.message)
	t := w.tariffOf(m.pair)
	if s.first {
		at = at.plus(Overhead, t.overhead)
	}
	switch {
	case m.lent:
		return at
	case m.folds:
		return at.plus(Reducing, ofSeconds(t.fold*float64(s.bytes)))
	}
	return at.plus(Copying, ofSeconds(t.take*float64(s.bytes)))
}

// taken is called when the receiver, r, is done with a segment.
func (w *world) taken(r, s int32, at moment) error {
	id := w.segments.at(s).message
	w.segments.give(s)
	m := w.messages.at(id)
	w.drain(m.pair, at)
	if m.taken++; m.taken < w.segmentsOf(m) {
		return nil
	}
	w.received++
	if w.beside(m.pair) {
		w.ranks[r].beside--
	}
	w.messages.give(id)
	return w.oneDone(r, at)
}
