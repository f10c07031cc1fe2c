package fast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Handle is a call that one of the functions Start… has started, and that runs in the background. Until it is over, its
// buffers belong to it, and the handle keeps them reachable: none may be written, and those that it fills may not be
// read. All methods may be called from any goroutine.
//
// The started calls of one Comm run one after the other, in the order in which they were started. A call that is not
// started waits for those before it. Only consecutive sends and receives run together, and are collected for that. They
// begin when Wait, Test or Done is called for one of them, when any other call is made on the Comm, or at the end of a
// Batch. So ranks may start sends and receives for each other in any order, and then wait for them, without a deadlock.
// Calls that are started after these have begun wait for all of them.
//
// When the context of the start ends, the call fails, and with it the communicator. If the context ends before the call
// has begun, only that call fails.
//
// If a call cannot be started, Wait, Test and Err return the reason. If none of these is called, Close returns it.
//
// A Handle that is nil or was not returned by a function Start… stands for no call: Wait, Test and Err return
// ErrInvalidArgument at once, and its Done is closed.
type Handle struct {
	queue    *queue // of its communicator; nil: it was refused
	name     string // of the primitive
	ctx      context.Context
	requests []exec.Request // one, or a send and a receive
	next     *Handle        // in a list
	held     bool           // it is collected; guarded by the queue's lock
	again    bool           // it will be reused: done gets a token instead of being closed
	ended    atomic.Bool
	seen     atomic.Bool // err was returned to the caller
	err      error
	done     chan struct{}

	mu   sync.Mutex
	then []func(err error) // of OnOver; guarded by mu, as is that ended is set
}

// Wait waits until the call is over, and returns its error. If ctx ends first, Wait returns an error that wraps ctx's,
// and the call goes on.
func (h *Handle) Wait(ctx context.Context) error {
	if ctx == nil {
		return wire.Refuse("Wait", "the context is nil")
	}
	if err := h.started("Wait"); err != nil {
		return err
	}
	h.begin()
	if h.ended.Load() && !h.again { // a reused handle's token has to be taken, or the next call would get it
		return h.result()
	}
	select {
	case <-h.done:
		return h.result()
	case <-ctx.Done():
		return fmt.Errorf("%s goes on, but is waited for no longer: %w", h.name, wire.Ended(ctx))
	}
}

// Done returns a channel that is closed when the call is over.
func (h *Handle) Done() <-chan struct{} {
	if h.started("Done") != nil {
		return closedChannel
	}
	h.begin()
	return h.done
}

// Test reports whether the call is over, and returns its error. If it is not over, Test yields the processor first: the
// call runs in another goroutine, which may have no other processor while the caller polls.
func (h *Handle) Test() (done bool, err error) {
	if err := h.started("Test"); err != nil {
		return true, err
	}
	h.begin()
	if !h.ended.Load() {
		runtime.Gosched()
	}
	return h.ended.Load(), h.Err()
}

// Over reports whether the call is over. Unlike Test, it has no call begin, and does not yield the processor.
func (h *Handle) Over() bool { return h.started("Over") != nil || h.ended.Load() }

// OnOver has f called with the call's error when the call is over, or at once if it is. It has no call begin. F is
// called by the caller or by a goroutine in which the other calls of the communicator are made: it must return soon, and
// neither wait for a call nor make one.
func (h *Handle) OnOver(f func(err error)) {
	if err := h.started("OnOver"); err != nil {
		f(err)
		return
	}
	h.mu.Lock()
	over := h.ended.Load()
	if !over {
		h.then = append(h.then, f)
	}
	h.mu.Unlock()
	if over {
		f(h.result())
	}
}

// Err returns the error of the call, or nil while it is not over.
func (h *Handle) Err() error {
	if err := h.started("Err"); err != nil {
		return err
	}
	if !h.ended.Load() {
		return nil
	}
	return h.result()
}

// result returns the error of the call, which is over, and notes that the caller has seen it.
func (h *Handle) result() error {
	if h.err != nil {
		h.seen.Store(true)
	}
	return h.err
}

// started returns an error if no function Start… has returned h.
func (h *Handle) started(what string) error {
	if h == nil || h.done == nil {
		return wire.Refuse(what, "the handle was not returned by a function Start…")
	}
	if fork.Child() { // the goroutine that makes the call is not in it
		return fmt.Errorf("%s: %w", what, ErrForked)
	}
	return nil
}

// closedChannel is the Done of a handle that stands for no call.
var closedChannel = func() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// begin has the collected calls begin, if h is one of them.
func (h *Handle) begin() {
	if h.queue != nil && !h.ended.Load() {
		h.queue.beginWith(h)
	}
}

// finish ends the call with err.
func (h *Handle) finish(err error) {
	clear(h.requests) // so that its buffers can be collected
	h.err = err
	h.mu.Lock()
	h.ended.Store(true)
	then := h.then
	h.then = nil
	h.mu.Unlock()
	defer func() {
		for _, f := range then {
			f(h.result())
		}
	}()
	if h.again {
		h.done <- struct{}{}
	} else {
		close(h.done)
	}
}

// rearm prepares h, which is over or was never used, for another call.
func (h *Handle) rearm() {
	select {
	case <-h.done:
	default:
	}
	h.ended.Store(false)
	h.err, h.requests = nil, h.requests[:0]
}

// pointToPoint reports whether h is a send or a receive, or both.
func (h *Handle) pointToPoint() bool { return h.requests[0].Collective.PointToPoint }

// handleOf returns the handle in opts if the call is to be started, or nil.
func handleOf(opts []Option) *Handle {
	for i := range opts {
		if opts[i].Kind == exec.StartOption {
			return opts[i].Handle.(*Handle)
		}
	}
	return nil
}

// queue has the started calls of a communicator, for the goroutine that makes them.
type queue struct {
	pending atomic.Int64  // calls that are not over
	drains  atomic.Bool   // a call that was not started waits for them
	wake    chan struct{} // gets a token when calls are ready
	idle    chan struct{} // gets a token when no call is pending any more
	stopped chan struct{} // closed when the goroutine has ended

	mu        sync.Mutex
	collected list // calls that have not begun
	ready     list // calls that have begun, and were not taken by the goroutine
	batches   int  // in progress; while there are any, nothing begins
	closed    bool
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

// take appends the calls to make next to group: one collective, or all point-to-point calls before the next one. It
// returns false when the queue is closed and empty.
func (q *queue) take(group []*Handle) ([]*Handle, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for h := q.ready.first; h != nil; h = q.ready.first {
		if len(group) > 0 && !(h.pointToPoint() && group[0].pointToPoint()) {
			break
		}
		group = append(group, q.ready.take())
	}
	return group, len(group) > 0 || !q.closed
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

// refusals has the handles of calls that could not be started. Close returns their errors if nobody else has seen them.
type refusals struct {
	mu  sync.Mutex
	all []*Handle
}

// maxRefusals is how many handles are kept.
const maxRefusals = 16

// unseen returns the errors that nobody has seen.
func (r *refusals) unseen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, h := range r.all {
		if h.ended.Load() && !h.seen.Load() {
			errs = append(errs, fmt.Errorf("a call was not started, and nobody waited for it: %w", h.err))
		}
	}
	r.all = nil
	return errors.Join(errs...)
}
