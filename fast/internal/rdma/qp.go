package rdma

import (
	"errors"
	"fmt"
)

const (
	batchWrites = 8 // how many writes are posted at once
	repostBatch = 8 // how many receives are posted at once
)

// queuePair is a queue pair of a link, on one of the rails. Messages and control frames go over the link's main one.
// The others carry only parts of long messages. For each message each of them carries an immediate that says that there
// are no more parts, because the immediates of one queue pair say nothing about what was written on another one.
type queuePair struct {
	link   *link
	rail   *rail
	index  int // among the link's queue pairs; the same as its rail's among the rails
	pair   Pair
	region Region // of the conn's memory
	key    uint32 // of the peer's

	consumed int    // receives that were consumed and not posted again
	posted   uint64 // writes that were posted
	done     uint64 // writes that are known to be over
	signaled uint64 // writes up to the last one that reports when it is over
	parts    uint32 // if it is not the main one: how many messages have arrived whole, as far as they go over it
}

// open makes the queue pair. After an error a part of it may exist.
func (q *queuePair) open(memory []byte, slots uint32) (err error) {
	if q.region, err = q.rail.Register(memory); err == nil {
		q.pair, err = q.rail.Pair(int(slots), receives(slots))
	}
	if err == nil {
		err = q.pair.Receive(receives(slots))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.rail.Name(), err)
	}
	return nil
}

// close frees what was made, the queue pair first: it may still write to the memory.
func (q *queuePair) close() (err error) {
	if q.pair != nil {
		err = q.pair.Close()
		q.pair = nil
	}
	if q.region != nil {
		err = errors.Join(err, q.region.Close())
		q.region = nil
	}
	return err
}

// end returns what the peer has to know of q.
func (q *queuePair) end() end {
	_, key := q.region.Remote()
	return end{q.pair.Address(), key}
}

// sendSlot returns the slot that the next write is sent from.
func (q *queuePair) sendSlot() []byte {
	n := q.link.conn
	return n.slot(sendOffset(n.slots, n.bytes), uint32(q.posted%uint64(n.slots)), n.bytes)
}

// canWrite reports whether a write can be posted, and has a slot to send from.
func (q *queuePair) canWrite() bool { return q.posted-q.done < uint64(q.link.conn.slots) }

// completeWrites records that all writes before number n are over.
func (q *queuePair) completeWrites(n uint64) error {
	if n <= q.done || n > q.posted {
		return fmt.Errorf("write %d is over, of those from %d to %d", n, q.done, q.posted)
	}
	q.done = n
	return nil
}

// replenish posts receives again that were consumed.
func (q *queuePair) replenish() (err error) {
	if q.consumed >= repostBatch {
		err = q.pair.Receive(q.consumed)
		q.consumed = 0
	}
	return err
}

// completePart handles an immediate on a queue pair that is not the main one: the parts that go over it have arrived,
// of the message that was granted last. It returns false if that is impossible.
func (q *queuePair) completePart(c *Completion) bool {
	if c.Immediate&immKinds != immPart || c.Bytes != 0 || q.parts == q.link.granted || ahead(c.Immediate, q.parts) != 0 {
		return false
	}
	q.parts++
	return true
}

// write queues w on q. Writes are carried out in the order of the calls, and begin with the next post at the latest. A
// write that names no memory is out of the slot to send from. One of each quarter of the slots is signaled, which frees
// the slots of those before it too.
func (e *Endpoint) write(q *queuePair, w Write) {
	n := q.link.conn
	if e.batchPair != q {
		e.post()
		e.batchPair = q
	}
	w.ID = q.posted
	w.Signal = w.Signal || (w.ID+1)%uint64(n.slots/4) == 0
	w.Inline = w.Length <= q.pair.Inline()
	if w.From == nil && w.Length > 0 {
		slot := int(q.posted % uint64(n.slots))
		w.From, w.Memory, w.Offset = q.region, n.memory, w.Offset+sendOffset(n.slots, n.bytes)+slot*int(n.bytes)
	}
	q.posted++
	if w.Signal {
		q.signaled = q.posted
	}
	if e.batch = append(e.batch, w); len(e.batch) == batchWrites {
		e.post()
	}
}

// writeImmediate queues an immediate without bytes.
func (e *Endpoint) writeImmediate(q *queuePair, imm uint32) {
	e.write(q, Write{To: q.link.conn.remote.at, Key: q.key, Immediate: imm, Tell: true})
}

// post posts the queued writes. If that fails, those that were posted before may still be carried out, and complete as
// usual.
func (e *Endpoint) post() {
	if len(e.batch) == 0 {
		return
	}
	q := e.batchPair
	if posted, err := q.pair.Write(e.batch); err != nil {
		q.posted -= uint64(len(e.batch) - posted)
		q.signaled = min(q.signaled, q.posted)
		q.link.Fail(q.link.PeerDied("%w", err))
		q.link.breakPairs()
	}
	clear(e.batch)
	e.batch = e.batch[:0]
}
