package rdma

import (
	"errors"
	"fmt"
)

// lane is a queue pair of a link, on one of the rails. Messages and all that is said go over the link's main lane. Over
// the others go only parts of long messages, and for each message an immediate that says that there are no more,
// because the immediates of one queue pair say nothing of what was written on another one.
type lane struct {
	link   *link
	rail   *rail
	index  int // among the lanes, and its rail's among the rails
	pair   Pair
	region Region // of the line's memory
	key    uint32 // of the other rank's

	used   int    // receives that were consumed and not posted again
	begun  uint64 // writes that were posted
	ended  uint64 // those that are over, as far as is known
	signed uint64 // those up to the last one that is told of when it is over
	come   uint32 // of a lane beside the main one: how many messages have come whole, as far as they go over it
}

// open makes t's queue pair. On an error there may be a part of it.
func (t *lane) open(memory []byte, slots uint32) (err error) {
	if t.region, err = t.rail.Register(memory); err == nil {
		t.pair, err = t.rail.Pair(int(slots), receives(slots))
	}
	if err == nil {
		err = t.pair.Receive(receives(slots))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.rail.Name(), err)
	}
	return nil
}

// close gives back what there is, the queue pair first: it may still write to the memory.
func (t *lane) close() (err error) {
	if t.pair != nil {
		err = t.pair.Close()
		t.pair = nil
	}
	if t.region != nil {
		err = errors.Join(err, t.region.Close())
		t.region = nil
	}
	return err
}

// end returns what the other rank has to know of t.
func (t *lane) end() end {
	_, key := t.region.Place()
	return end{t.pair.Address(), key}
}

// sendSlot returns the slot to send from of the next write.
func (t *lane) sendSlot() []byte {
	n := t.link.line
	return n.part(sendAt(n.slots, n.bytes), uint32(t.begun%uint64(n.slots)), n.bytes)
}

// canWrite reports whether a write can be posted, and has a slot to send from.
func (t *lane) canWrite() bool { return t.begun-t.ended < uint64(t.link.line.slots) }

// written takes note that all writes before number n are over.
func (t *lane) written(n uint64) error {
	if n <= t.ended || n > t.begun {
		return fmt.Errorf("write %d is over, of those from %d to %d", n, t.ended, t.begun)
	}
	t.ended = n
	return nil
}

// replenish posts receives again that were consumed.
func (t *lane) replenish() (err error) {
	if t.used >= repost {
		err = t.pair.Receive(t.used)
		t.used = 0
	}
	return err
}

// stripe takes note of an immediate on a lane beside the main one: all of a message has come that goes over it, of the
// one whose place was granted last. It is false if that cannot be.
func (t *lane) stripe(c *Completion) bool {
	if c.Immediate&immKinds != immStripe || c.Bytes != 0 || t.come == t.link.granted || ahead(c.Immediate, t.come) != 0 {
		return false
	}
	t.come++
	return true
}
