package fast

import (
	"sync"
	"sync/atomic"
)

// queue has the started calls of a communicator, for the goroutine that makes them.
type queue struct {
	pending atomic.Int64 // calls that are not over
	drains  atomic.Bool  // a call that was not started waits for them
	// carryOut makes the calls that are ready, in the turn of this goroutine: Comm.carryOutReady
	carryOut func(until *Handle, limit <-chan struct{}) (over bool)
	turn     sync.Mutex    // of who makes calls: the queue's goroutine, or one that waits for a call
	wake     chan struct{} // gets a token when calls are ready, and nobody makes them
	idle     chan struct{} // gets a token when no call is pending any more
	stopped  chan struct{} // closed when the goroutine has ended

	mu        sync.Mutex
	collected list // calls that have not begun
	ready     list // calls that have begun, and were not taken
	batches   int  // in progress; while there are any, nothing begins
	closed    bool
	group     []*Handle // memory for what is taken; of who has the turn
}

// list is a linked list of handles.
type list struct{ first, last *Handle }

func (l *list) add(h *Handle) {
	h.next = nil
	if l.first == nil {
		l.first = h
	} else {
		l.last.next = h
	}
	l.last = h
}

func (l *list) take() *Handle {
	h := l.first
	l.first, h.next = h.next, nil
	return h
}

// begin has all collected calls begin. The queue is locked.
func (q *queue) begin() {
	if q.collected.first == nil {
		return
	}
	for h := q.collected.first; h != nil; {
		next := h.next
		h.held = false
		q.ready.add(h)
		h = next
	}
	q.collected = list{}
	signal(q.wake)
}

// beginWith has all collected calls begin, if h is one of them.
func (q *queue) beginWith(h *Handle) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h.held {
		q.begin()
	}
}

// signal puts a token into a channel with room for one, unless it has one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close ends the goroutine. Calls that it has not made fail.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.begin()
	q.mu.Unlock()
	signal(q.wake)
	<-q.stopped
}

// take takes the calls to make next: one collective, or all point-to-point calls before the next one; none, if there
// are none. With limit, it takes none if one of them has a context with another Done than that.
func (q *queue) take(limit <-chan struct{}) []*Handle {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.group = q.group[:0]
	for h := q.ready.first; h != nil; h = h.next {
		if len(q.group) > 0 && !(h.pointToPoint() && q.group[0].pointToPoint()) {
			break
		}
		if limit != nil && h.ctx.Done() != limit {
			return nil
		}
		q.group = append(q.group, h)
	}
	for range q.group {
		q.ready.take()
	}
	return q.group
}

// endTurn ends the turn of who has made calls. The queue's goroutine has the next one if there is something left to do.
func (q *queue) endTurn() {
	q.turn.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ready.first != nil || q.closed {
		signal(q.wake)
	}
}

// isOver reports whether the queue is closed and empty.
func (q *queue) isOver() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && q.ready.first == nil
}

// hold keeps started calls from beginning, until release.
func (q *queue) hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.batches++
}

func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.batches--; q.batches == 0 {
		q.begin()
	}
}
