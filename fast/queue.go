package fast

import (
	"context"
	"sync"
	"sync/atomic"
)

// queue has the started calls of a communicator, for the goroutine that makes them.
//
// Sends and receives are posted as soon as no collective is before them: from then on they are open, and the transport
// moves them whenever somebody has the turn. A collective is made when it is the first that is ready and nothing is
// open. So the messages of two ranks are posted in the order in which their calls were started, and no message waits
// for a later call of its rank.
type queue struct {
	pending     atomic.Int64 // calls that are not over
	collectives atomic.Int64 // those of them that are no sends or receives
	drains      atomic.Bool  // a call that was not started waits for them
	beside      atomic.Bool  // a send or receive that was not started is among them
	waits       atomic.Int32 // how many goroutines wait without a deadline
	waiters     atomic.Int32 // how many goroutines wait
	alone       atomic.Bool  // the queue's goroutine has the turn
	looks       atomic.Bool  // whether somebody waits for an open call is to be looked at
	// carryOut makes calls in the turn of this goroutine: Comm.carryOutReady
	carryOut func(until *Handle, leave context.Context, made bool) (over bool)
	nudge    func()        // has who has the turn look again
	turn     sync.Mutex    // of who makes calls: the queue's goroutine, or one that starts or waits for a call
	wake     chan struct{} // gets a token when calls are ready, and nobody makes them
	idle     chan struct{} // gets a token when no call is pending any more
	stopped  chan struct{} // closed when the goroutine has ended

	open []*Handle // sends and receives in flight; of who has the turn
	own  Handle    // of the call beside them

	mu        sync.Mutex
	collected list // calls that have not begun
	ready     list // calls that have begun, and were not taken
	batches   int  // in progress; while there are any, nothing begins
	closed    bool
}

// inBackground reports whether the queue's goroutine makes a call that nobody waits for. The program computes
// meanwhile, perhaps on the processor that the call would spin on.
func (q *queue) inBackground() bool { return q.alone.Load() && q.waiters.Load() == 0 }

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
	defer q.nudge()
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

// take takes the next call if it is a send or receive, or else if it is not; nil if it is not so.
func (q *queue) take(pointToPoint bool) *Handle {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.ready.first; h == nil || h.pointToPoint() != pointToPoint {
		return nil
	}
	return q.ready.take()
}

// nextCollective returns the call that take would take, if it is a collective.
func (q *queue) nextCollective() *Handle {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.ready.first; h != nil && !h.pointToPoint() {
		return h
	}
	return nil
}

// over counts that calls are over.
func (q *queue) over(calls int) {
	if q.pending.Add(int64(-calls)) == 0 {
		signal(q.idle)
	}
}

// endTurn ends the turn of who has made calls. The queue's goroutine has the next one if there is something left to do.
func (q *queue) endTurn() {
	left := len(q.open) > 0
	q.alone.Store(false)
	q.turn.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if left || q.ready.first != nil || q.closed {
		signal(q.wake)
	}
}

// start has what is ready begin in this goroutine, as far as that takes no waiting. The rest is the queue's
// goroutine's.
func (q *queue) start() {
	if q.turn.TryLock() {
		q.carryOut(nil, noTime, false)
	} else {
		q.nudge()
	}
}

// noTime is a context that has ended.
var noTime = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// isOver reports whether the queue is closed and empty. The caller has the turn.
func (q *queue) isOver() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && q.ready.first == nil && len(q.open) == 0
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
