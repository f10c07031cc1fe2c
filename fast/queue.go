package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// queue is the started calls of a communicator, and the goroutine that makes them.
type queue struct {
	pending atomic.Int64  // calls that are not over
	drains  atomic.Bool   // a call that is not started waits for them
	wake    chan struct{} // a token: there is something to do
	idle    chan struct{} // a token: no call is pending any more
	stopped chan struct{} // closed when the goroutine has ended

	mu        sync.Mutex
	collected list // not begun
	ready     list // begun, and not taken by the goroutine
	batches   int  // in progress: nothing begins by itself
	closed    bool
}

// list is handles in their order.
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

// starts returns the queue of c, which is made when it is needed first.
func (c *Comm) starts() *queue {
	if q := c.queue.Load(); q != nil {
		return q
	}
	q := &queue{wake: make(chan struct{}, 1), idle: make(chan struct{}, 1), stopped: make(chan struct{})}
	if !c.queue.CompareAndSwap(nil, q) {
		return c.queue.Load()
	}
	go c.work(q)
	if c.closed.Load() { // Close may have come before there was a queue
		q.close()
	}
	return q
}

// start puts calls, which are prepared, into the queue. One of several is a send, the other a receive.
func (c *Comm) start(ctx context.Context, h *Handle, calls ...*exec.Request) {
	q := c.starts()
	h.queue, h.name, h.ctx = q, calls[0].Collective.Name, ctx
	for _, r := range calls {
		h.requests = append(h.requests, *r)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		h.finish(c.refusedError(h.name, ErrClosed))
		return
	}
	q.pending.Add(1)
	q.collected.add(h)
	h.held = true
	if q.batches == 0 && !h.pointToPoint() {
		q.begin()
	}
}

// begin has everything that was collected begin. The queue is locked.
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

// beginWith has everything that was collected begin, if h is among it.
func (q *queue) beginWith(h *Handle) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h.held {
		q.begin()
	}
}

// signal puts a token into a channel that can hold one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// drain waits until all started calls are over, for a call that comes behind them.
func (c *Comm) drain(ctx context.Context, name string) error {
	q := c.queue.Load()
	if q == nil || q.pending.Load() == 0 {
		return nil
	}
	q.drains.Store(true)
	defer q.drains.Store(false)
	q.mu.Lock()
	q.begin()
	q.mu.Unlock()
	for q.pending.Load() > 0 {
		select {
		case <-q.idle:
		case <-ctx.Done():
			return c.contextError(ctx, name)
		}
	}
	return c.unusableError(name)
}

// close ends the goroutine. What it has not made fails.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.begin()
	q.mu.Unlock()
	signal(q.wake)
	<-q.stopped
}

// finishStarted gives the started calls of c that have not ended time to end by themselves: until nothing has moved for
// atMost. No look counts for more than 10 ms, however long the one before it was ago: a process that was not scheduled
// cannot say that nothing moved.
func (c *Comm) finishStarted(atMost time.Duration) {
	q := c.queue.Load()
	if q == nil || c.termination.Load() != nil {
		return
	}
	q.mu.Lock()
	q.begin()
	q.mu.Unlock()
	pending, moved, looked := q.pending.Load(), transport.Moved(c.exec.Transport), time.Now()
	for still := time.Duration(0); pending > 0 && c.termination.Load() == nil && still < atMost; {
		time.Sleep(100 * time.Microsecond)
		now := time.Now()
		still += min(now.Sub(looked), 10*time.Millisecond)
		looked = now
		if p, m := q.pending.Load(), transport.Moved(c.exec.Transport); p != pending || m != moved {
			pending, moved, still = p, m, 0
		}
	}
}

// endStarted ends the started calls of c, which is closed.
func (c *Comm) endStarted() {
	if q := c.queue.Load(); q != nil {
		q.close()
	}
}

// take returns what is to be made next: a collective alone, or all point-to-point calls up to the next one. It is false
// when nothing is, and nothing will be.
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

// work makes the started calls, until Close.
func (c *Comm) work(q *queue) {
	defer close(q.stopped)
	var group []*Handle
	for goesOn := true; ; {
		if group, goesOn = q.take(group[:0]); !goesOn {
			return
		}
		if len(group) == 0 {
			<-q.wake
			continue
		}
		c.carryOut(group)
		if q.pending.Add(int64(-len(group))) == 0 {
			signal(q.idle)
		}
		clear(group)
	}
}

// carryOut makes calls that were started: one collective, or point-to-point calls.
func (c *Comm) carryOut(group []*Handle) {
	group = slices.DeleteFunc(group, func(h *Handle) bool {
		err := c.late(h)
		if err != nil {
			h.finish(err)
		}
		return err != nil
	})
	if len(group) == 0 {
		return
	}
	if h := group[0]; !h.pointToPoint() {
		h.finish(c.perform(h.ctx, &h.requests[0]))
		return
	}
	for _, h := range group {
		c.exec.Enlist(h.requests...)
	}
	ctx, stop := joined(group)
	err := c.together(ctx)
	stop()
	for i, at := 0, 0; i < len(group); i++ {
		h := group[i]
		of := at
		at += len(h.requests)
		if err == nil {
			h.finish(nil)
		} else {
			h.finish(c.callError(&c.exec.Group[of], c.exec.NumberOf(of), err))
		}
	}
	c.exec.ForgetGroup()
}

// late returns why h is not made any more, if there is a reason.
func (c *Comm) late(h *Handle) error {
	if err := c.unusableError(h.name); err != nil {
		return err
	}
	if h.ctx.Err() != nil {
		return c.contextError(h.ctx, h.name)
	}
	return nil
}

// joined returns a context that ends with the first of those of group.
func joined(group []*Handle) (ctx context.Context, stop func()) {
	ctx, stop = group[0].ctx, func() {}
	for _, h := range group[1:] {
		if h.ctx.Done() == nil || h.ctx.Done() == group[0].ctx.Done() {
			continue
		}
		both, cancel := context.WithCancelCause(ctx)
		forget, before := context.AfterFunc(h.ctx, func() { cancel(wire.Ended(h.ctx)) }), stop
		ctx, stop = both, func() {
			forget()
			cancel(nil)
			before()
		}
	}
	return ctx, stop
}

// Batch has what f starts on c, and on others, begin when f has returned, and not before: all of it at once, on each
// Comm in the order in which it was started, sends and receives in a row together. It is for calls that are to begin
// together, and to have sends and receives begin without waiting for one of them. In f, a call on one of the Comms that
// is not started, and waiting for a handle, begin what was started so far.
//
// The error is f's. Those of the calls are their handles'; what was started begins whatever f returns.
func (c *Comm) Batch(f func() error, others ...*Comm) error {
	if f == nil {
		return wire.Refuse("Batch", "the function is nil")
	}
	all := append([]*Comm{c}, others...)
	for i, d := range all {
		if d == nil || d.size == 0 {
			return wire.Refuse("Batch", "communicator %d of %d is nil, or was made by neither Run nor Init", i, len(all))
		}
	}
	if fork.Child() { // before locks, which another thread may have held at the fork
		return c.refusedError("Batch", ErrForked)
	}
	for _, d := range all {
		d.starts().hold()
	}
	defer func() {
		for _, d := range all {
			d.starts().release()
		}
	}()
	return f()
}

// hold keeps started calls from beginning, until as many releases.
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

// refusals are handles of calls that were refused when they were to be started, for Close: nobody may ask for their
// errors.
type refusals struct {
	mu  sync.Mutex
	all []*Handle
}

// maxRefusals is how many of them are kept that nobody has asked for.
const maxRefusals = 16

// refused takes note that a call with these options was refused.
func (c *Comm) refused(opts []Option) {
	h := handleOf(opts)
	if c == nil || h == nil || h.again {
		return
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	r := &c.refusals
	r.all = slices.DeleteFunc(r.all, func(h *Handle) bool { return h.seen.Load() })
	if len(r.all) < maxRefusals {
		r.all = append(r.all, h)
	}
}

// unseen returns the errors of those that nobody has asked for.
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
