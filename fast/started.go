package fast

import (
	"context"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// starts returns the queue of c, which is made when it is first needed.
func (c *Comm) starts() *queue {
	if q := c.queue.Load(); q != nil {
		return q
	}
	q := &queue{wake: make(chan struct{}, 1), idle: make(chan struct{}, 1), stopped: make(chan struct{}),
		nudge: func() {}}
	q.carryOut = func(until *Handle, leave context.Context, made bool) bool {
		return c.carryOutReady(q, until, leave, made)
	}
	q.own = Handle{done: make(chan struct{}, 1), again: true, isCall: true}
	if c.exec.Transport != nil {
		q.nudge = c.exec.Transport.Nudge
	}
	if !c.queue.CompareAndSwap(nil, q) {
		return c.queue.Load()
	}
	go c.work(q)
	if c.closed.Load() { // Close may have come before there was a queue
		q.close()
	}
	return q
}

// start puts a prepared call into the queue, or a send and a receive that are one call.
func (c *Comm) start(ctx context.Context, h *Handle, calls ...*exec.Request) {
	q := c.starts()
	h.queue, h.name, h.ctx = q, calls[0].Collective.Name, ctx
	if h.requests == nil {
		h.requests = h.one[:0]
	}
	for _, r := range calls {
		h.requests = append(h.requests, r.Kept())
	}
	if c.enqueue(q, h) {
		q.start()
	}
}

// enqueue puts a call into the queue, and reports whether it is a send or receive that begins now.
func (c *Comm) enqueue(q *queue, h *Handle) (begins bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		h.finish(c.refusedError(h.name, ErrClosed))
		return false
	}
	q.pending.Add(1)
	if !h.pointToPoint() {
		q.collectives.Add(1)
	}
	q.collected.add(h)
	h.held = true
	if q.batches > 0 && !h.blocks.Load() {
		return false
	}
	q.begin()
	return h.pointToPoint()
}

// hasStarted reports whether started calls are not over.
func (c *Comm) hasStarted() bool {
	q := c.queue.Load()
	return q != nil && q.pending.Load() > 0
}

// drain waits until all started calls are over, before a call that is not started.
func (c *Comm) drain(ctx context.Context, name string) error {
	if !c.hasStarted() {
		return nil
	}
	q := c.queue.Load()
	q.drains.Store(true)
	defer q.drains.Store(false)
	q.mu.Lock()
	q.begin()
	q.mu.Unlock()
	q.nudge()
	q.waiters.Add(1)
	defer q.waiters.Add(-1)
	for q.pending.Load() > 0 {
		select {
		case <-q.idle:
		case <-ctx.Done():
			return c.contextError(ctx, name)
		}
	}
	return c.unusableError(name)
}

// hasOpen reports whether all pending calls are sends and receives: then others need not wait for them.
func (c *Comm) hasOpen() bool {
	q := c.queue.Load()
	return q != nil && q.pending.Load() > 0 && q.collectives.Load() == 0
}

// besideOpen makes a send, a receive or both beside those that were started.
func (c *Comm) besideOpen(ctx context.Context, calls ...*exec.Request) error {
	q := c.starts()
	q.beside.Store(true)
	defer q.beside.Store(false)
	h := &q.own
	h.rearm()
	h.blocks.Store(true)
	c.start(ctx, h, calls...)
	return h.Wait(context.Background()) // ctx ends the call
}

// finishStarted waits for the started calls of c to end, until they have made no progress for atMost. The time between
// two checks counts for at most 10 ms, because this process may not have been scheduled in between.
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

// endStarted fails the started calls of c, which is closed.
func (c *Comm) endStarted() {
	if q := c.queue.Load(); q != nil {
		q.close()
	}
}

// work makes the started calls, until Close.
func (c *Comm) work(q *queue) {
	defer close(q.stopped)
	for {
		// Without a turn, who has it sees to it that this goroutine has the next one.
		if q.turn.TryLock() {
			q.alone.Store(true)
			if c.carryOutReady(q, nil, context.Background(), true) {
				return
			}
		}
		<-q.wake
	}
}

// carryOutReady carries out the calls that are ready, up to the end of the call until if that is not nil, or to that of
// leave. Collectives are made if made is set, and they cannot outlast leave: their context is the same, or leave never
// ends. This goroutine's turn, which it has, is over then. CarryOutReady reports whether the queue is closed and all
// calls were made.
func (c *Comm) carryOutReady(q *queue, until *Handle, leave context.Context, made bool) (over bool) {
	panics := true
	defer func() {
		if panics && len(q.open) > 0 {
			c.fail(errPanicked)
			c.failOpen(q, errPanicked)
		}
		q.endTurn()
	}()
	for until == nil || !until.ended.Load() {
		c.post(q)
		switch {
		case len(q.open) > 0:
			c.progress(q, leave)
			if leave.Err() == nil {
				continue
			}
		case made && c.makeNext(q, leave):
			continue
		}
		break
	}
	panics = false
	return q.isOver()
}

// makeNext makes the collective that is next, and reports whether there is one that cannot outlast leave.
func (c *Comm) makeNext(q *queue, leave context.Context) bool {
	h := q.nextCollective()
	if h == nil || leave.Done() != nil && h.ctx.Done() != leave.Done() {
		return false
	}
	q.take(false)
	panics := true
	defer func() {
		if panics {
			h.finish(errPanicked)
		}
		q.collectives.Add(-1)
		q.over(1)
	}()
	err := c.late(h)
	if err == nil {
		err = c.perform(h.ctx, &h.requests[0])
	}
	panics = false // from the next statement on, the caller may have started h again
	c.finish(h, err)
	return true
}

// finish ends h, which is no point-to-point call or has not begun, with err.
func (c *Comm) finish(h *Handle, err error) {
	if err != nil && h.requests[0].Continues() {
		c.breakOff(err)
	}
	h.finish(err)
}

// late returns why h can no longer be made; nil if it can.
func (c *Comm) late(h *Handle) error {
	if err := c.unusableError(h.name); err != nil {
		return err
	}
	if h.ctx.Err() != nil {
		return c.contextError(h.ctx, h.name)
	}
	return nil
}

// joined returns a context that ends when the first context of group does.
func joined(group []*Handle) (ctx context.Context, stop func()) {
	ctx, stop = group[0].ctx, func() {}
	first := ctx.Done()
	for _, h := range group[1:] {
		switch done := h.ctx.Done(); {
		case done == nil || done == first:
			continue
		case first == nil:
			ctx, first = h.ctx, done
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

// Batch calls f, and has the calls that f starts on c and on others begin when f has returned. On each Comm they begin
// in the order in which they were started, consecutive sends and receives together. A call in f that is not started, or
// a Wait for a handle, has the calls that were started so far begin.
//
// Batch returns the error of f; the calls begin even if there is one. Their own errors are those of their handles.
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
		for _, d := range all {
			d.starts().start()
		}
	}()
	return f()
}

// refused keeps the handle of a call that was to be started and was refused.
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
