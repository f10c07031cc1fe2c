package message

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fork"
	engine "github.com/collgen/collgen/fast/internal/message"
	"github.com/collgen/collgen/fast/internal/wire"
)

// ErrCanceled is the error of a receive that Cancel has ended.
var ErrCanceled = errors.New("the receive was canceled")

// Handle is a call that StartSend or StartRecv has started, and that goes on by itself. Until it is over, its buffer
// belongs to it: that of a send may not be written, that of a receive may not be read. All methods may be called from
// any goroutine.
//
// A Handle that is nil or was not returned by one of these functions stands for no call: Wait and Test return
// fast.ErrInvalidArgument at once, and Done is closed.
type Handle struct {
	call   call
	status Status
	err    error
	done   chan struct{} // closed when the two before count
}

// StartSend starts Send and returns. It is in the order of this rank's messages as if Send was called now. The call
// fails when ctx ends.
func StartSend[T fast.Elem](ctx context.Context, c *fast.Comm, buf []T, to, tag int, opts ...fast.Option) *Handle {
	o, err := sending(ctx, c, "message.Send", buf, to, tag, opts)
	return start(ctx, o, err)
}

// StartRecv starts Recv and returns. The receive is posted now. The call fails when ctx ends.
func StartRecv[T fast.Elem](ctx context.Context, c *fast.Comm, buf []T, from, tag int, opts ...fast.Option) *Handle {
	o, err := receiving(ctx, c, "message.Recv", buf, from, tag, opts)
	return start(ctx, o, err)
}

// start returns the handle of a call that has begun, or that was refused because of err.
func start(ctx context.Context, o call, err error) *Handle {
	h := &Handle{call: o, err: err, done: make(chan struct{})}
	wait := func() {
		h.status, h.err = o.wait(ctx, false) // many may wait for long, as in a server
		close(h.done)
	}
	switch {
	case err != nil:
		close(h.done)
	case o.op.Over():
		wait()
	default:
		go wait()
	}
	return h
}

// Wait waits until the call is over, and returns its error. If ctx ends first, Wait returns an error that wraps ctx's,
// and the call goes on.
func (h *Handle) Wait(ctx context.Context) error {
	if err := h.started("Wait"); err != nil {
		return err
	}
	if ctx == nil {
		return wire.Refuse("Wait", "the context is nil")
	}
	select {
	case <-h.done:
		return h.err
	default:
	}
	watched, stop := engine.Runtime.Watch(ctx, h.call.c, h.call.r.Name)
	defer stop()
	wire.ReportWait(watched, h.call.op.Waiting)
	select {
	case <-h.done:
		return h.err
	case <-ctx.Done():
		return fmt.Errorf("%s goes on, but is waited for no longer: %w", h.call.r.Name, wire.Ended(ctx))
	}
}

// Done returns a channel that is closed when the call is over.
func (h *Handle) Done() <-chan struct{} {
	if h.started("Done") != nil {
		return closed
	}
	return h.done
}

// Test reports whether the call is over, and returns its error.
func (h *Handle) Test() (done bool, err error) {
	if err := h.started("Test"); err != nil {
		return true, err
	}
	select {
	case <-h.done:
		return true, h.err
	default:
		return false, nil
	}
}

// Status returns which message the receive has got, as Recv does. It is zero before the call is over, and for a send.
func (h *Handle) Status() Status {
	if over, _ := h.Test(); !over || h.started("Status") != nil {
		return Status{}
	}
	return h.status
}

// Cancel ends a receive that no message has matched. Its error is then ErrCanceled. Cancel reports whether it has ended
// it; a send it never ends. After true, the buffer may be used again.
func (h *Handle) Cancel() bool {
	return h.started("Cancel") == nil && h.call.op != nil && h.call.op.Cancel(ErrCanceled)
}

// started returns an error if no function has returned h.
func (h *Handle) started(what string) error {
	if h == nil || h.done == nil {
		return wire.Refuse(what, "the handle was not returned by StartSend or StartRecv")
	}
	if fork.Child() { // the goroutine that waits for the call is not in it
		return fmt.Errorf("%s: %w", what, fast.ErrForked)
	}
	return nil
}

// closed is the Done of a handle that stands for no call.
var closed = func() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()
