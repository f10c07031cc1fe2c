package fast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Handle is a call that one of the functions Start… has started, and that runs in the background. Until it is over, its
// buffers belong to it, and the handle keeps them reachable: none may be written, and those that it fills may not be
// read. All methods may be called from any goroutine.
//
// A started call begins at once, or at the end of a Batch, and needs no further call of its rank. The calls of one Comm
// run one after the other, in the order in which they were made or started. Only sends and receives between two
// collectives run beside each other, also those that are not started, and each is over by itself. So ranks may start
// them for each other in any order without a deadlock. A collective begins when all calls before it are over, and calls
// after it begin when it is: two ranks whose sends and receives lie before a collective here and behind it there wait
// for each other.
//
// Ranks that wait for each other in started calls get a DeadlockError only after some seconds, and only from Wait with
// a context without a deadline: before, another goroutine may start what is missing.
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
	one      [1]exec.Request
	next     *Handle // in a list
	held     bool    // it is collected; guarded by the queue's lock

	// Of a send or receive:
	posted *exec.Posted // its messages
	blocks atomic.Bool  // its rank begins no other call before it is over
	heeded bool         // the transport knows; of who has the queue's turn, like since
	since  time.Time    // when it was seen first that somebody waits for it
	waits  atomic.Int32 // how many goroutines wait for it without a deadline

	again  bool // it will be reused: done gets a token instead of being closed
	isCall bool // a function Start… has returned it
	ended  atomic.Bool
	seen   atomic.Bool // err was returned to the caller
	err    error

	mu   sync.Mutex        // guards what follows, and that ended is set
	done chan struct{}     // nil: nobody has waited for it
	then []func(err error) // of OnOver
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
	if _, limited := ctx.Deadline(); !limited {
		h.isWaitedFor(1)
		defer h.isWaitedFor(-1)
	}
	if q := h.queue; q != nil {
		q.waiters.Add(1)
		defer q.waiters.Add(-1)
	}
	h.help(ctx)
	if h.ended.Load() && !h.again { // a reused handle's token has to be taken, or the next call would get it
		return h.result()
	}
	select {
	case <-h.end():
		return h.result()
	case <-ctx.Done():
		return fmt.Errorf("%s goes on, but is waited for no longer: %w", h.name, wire.Ended(ctx))
	}
}

// isWaitedFor counts that so many goroutines more wait for h without a deadline.
func (h *Handle) isWaitedFor(more int32) {
	if h.queue != nil {
		h.waits.Add(more)
		h.queue.waits.Add(more)
	}
}

// help makes the calls up to h in this goroutine, which waits for it, unless another one makes them already. So the
// result need not be handed over, which takes longer than a short call. A collective with another context than ctx may
// outlast it, so it is left to the queue's goroutine, unless ctx never ends.
func (h *Handle) help(ctx context.Context) {
	if q := h.queue; q != nil && !h.ended.Load() && q.turn.TryLock() {
		q.carryOut(h, ctx, true)
	}
}

// Done returns a channel that is closed when the call is over.
func (h *Handle) Done() <-chan struct{} {
	if h.started("Done") != nil {
		return closedChannel
	}
	h.begin()
	return h.end()
}

// end returns the channel that says that the call is over.
func (h *Handle) end() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		h.done = make(chan struct{})
		if h.ended.Load() {
			close(h.done)
		}
	}
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

// Over reports whether the call is over. Unlike Test, it has no call of a Batch begin, and does not yield the
// processor.
func (h *Handle) Over() bool { return h.started("Over") != nil || h.ended.Load() }

// OnOver has f called with the call's error when the call is over, or at once if it is. F is called by the caller or by
// a goroutine that makes, starts or waits for calls of the communicator. It must return soon, and neither wait for a
// call nor make one.
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
	if h == nil || !h.isCall {
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
	done, then := h.done, h.then
	h.then = nil
	h.mu.Unlock()
	switch {
	case h.again:
		done <- struct{}{}
	case done != nil:
		close(done)
	}
	for _, f := range then {
		f(h.result())
	}
}

// rearm prepares h, which is over or was never used, for another call.
func (h *Handle) rearm() {
	select {
	case <-h.done:
	default:
	}
	h.ended.Store(false)
	h.blocks.Store(false)
	h.err, h.requests, h.since = nil, h.requests[:0], time.Time{}
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
