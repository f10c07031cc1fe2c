package fast

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Handle is a call that was started: one of the functions Start… has returned it, and the call goes on by itself. Until
// it is over its buffers belong to it, and the handle keeps them: none may be written, and those that it fills may not
// be read. All methods may be called from any goroutine.
//
// The started calls of one Comm run one after the other, in the order in which they were started, and a call that is
// not started waits for those before it. Only sends and receives in a row run together, and for that they are collected
// first. They begin when one of them is waited for, tested, or its Done is asked for, when any other call is made on
// the Comm, or at the end of a Batch. So ranks that start sends and receives for each other, in any order, and then
// wait for them, do not wait for each other for ever. What is started after they have begun waits for all of them.
//
// The context of the start governs the call: when it ends, the call fails, and with it the communicator. If it ends
// before the call has begun, that call alone is left out.
//
// A call that could not be started is refused: Wait, Test and Err return why. Where nobody asks for it, Close does.
//
// A Handle that is nil or was not returned by a function Start… stands for no call: Wait, Test and Err return
// ErrInvalidArgument at once, and its Done is closed.
type Handle struct {
	queue    *queue // of its communicator; nil: it was refused
	name     string // of the primitive
	ctx      context.Context
	requests []exec.Request // one, or a send and a receive
	next     *Handle        // the one behind it
	held     bool           // it is collected, under the queue's lock
	again    bool           // it will be used again: done gets a token instead of being closed
	ended    atomic.Bool
	seen     atomic.Bool // somebody has got err
	err      error
	done     chan struct{}
}

// Wait waits until the call is over, and returns its error. The end of ctx ends the waiting alone, with an error that
// wraps ctx's; the call goes on.
func (h *Handle) Wait(ctx context.Context) error {
	if ctx == nil {
		return wire.Refuse("Wait", "the context is nil")
	}
	if err := h.started("Wait"); err != nil {
		return err
	}
	h.begin()
	if h.ended.Load() && !h.again { // a token that is on its way has to be taken: the next call would have it for its own
		return h.result()
	}
	select {
	case <-h.done:
		return h.result()
	case <-ctx.Done():
		return fmt.Errorf("%s goes on, but is waited for no longer: %w", h.name, wire.Ended(ctx))
	}
}

// Done is closed when the call is over.
func (h *Handle) Done() <-chan struct{} {
	if h.started("Done") != nil {
		return closedChannel
	}
	h.begin()
	return h.done
}

// Test tells whether the call is over, and with what error. If it is not, other goroutines get their turn first: the
// call goes on in one, which may have no processor but that of whoever asks again and again.
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

// Err returns the error of the call; nil as long as it is not over.
func (h *Handle) Err() error {
	if err := h.started("Err"); err != nil {
		return err
	}
	if !h.ended.Load() {
		return nil
	}
	return h.result()
}

// result returns the error of the call, which is over, for who asks for it.
func (h *Handle) result() error {
	if h.err != nil {
		h.seen.Store(true)
	}
	return h.err
}

// started refuses a handle that is nobody's.
func (h *Handle) started(what string) error {
	if h == nil || h.done == nil {
		return wire.Refuse(what, "the handle was not returned by a function Start…")
	}
	if fork.Child() { // the goroutine that makes the call is not in it
		return fmt.Errorf("%s: %w", what, ErrForked)
	}
	return nil
}

// closedChannel is the Done of a handle that is nobody's.
var closedChannel = func() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// begin has what was collected begin, if h is among it.
func (h *Handle) begin() {
	if h.queue != nil && !h.ended.Load() {
		h.queue.beginWith(h)
	}
}

// finish ends the call with err.
func (h *Handle) finish(err error) {
	clear(h.requests) // so that its buffers can be collected
	h.err = err
	h.ended.Store(true)
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

// pointToPoint reports whether h is a call of two ranks.
func (h *Handle) pointToPoint() bool { return h.requests[0].Collective.PointToPoint }

// handleOf returns the handle of the call, if it is to be started.
func handleOf(opts []Option) *Handle {
	for i := range opts {
		if opts[i].Kind == exec.StartOption {
			return opts[i].Handle.(*Handle)
		}
	}
	return nil
}
