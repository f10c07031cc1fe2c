package fast

import (
	"context"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
)

// Sends and receives that were started, and are in flight. All functions are for who has the turn.

// post puts the sends and receives in flight that no collective is before.
func (c *Comm) post(q *queue) {
	for h := q.take(true); h != nil; h = q.take(true) {
		if err := c.late(h); err != nil {
			h.finish(err)
			q.over(1)
			continue
		}
		if h.posted == nil {
			h.posted = new(exec.Posted)
		}
		q.open = append(q.open, h)
		if err := c.exec.Post(h.ctx, h.posted, h.requests); err != nil {
			c.failOpen(q, err)
		}
	}
}

// progress moves what is open until one more call is over, something else is to be done, or leave ends.
func (c *Comm) progress(q *queue, leave context.Context) {
	if c.reap(q) || c.exec.Transport == nil {
		return
	}
	c.heed(q)
	ctx, stop := joined(q.open)
	err := c.exec.Transport.Progress(ctx, leave)
	stop()
	if err != nil {
		c.failOpen(q, err)
		return
	}
	c.reap(q)
}

// reap ends the calls that are over, and reports whether there are any.
func (c *Comm) reap(q *queue) bool {
	before := len(q.open)
	q.open = slices.DeleteFunc(q.open, func(h *Handle) bool {
		over := h.posted.Over()
		if over {
			c.exec.End(h.posted, false)
			h.finish(nil)
		}
		return over
	})
	over := before - len(q.open)
	if over > 0 && len(q.open) == 0 {
		c.exec.EndTogether()
	}
	q.over(over)
	return over > 0
}

// failOpen ends all open calls because of err, and gives c up.
func (c *Comm) failOpen(q *queue, err error) {
	first := q.open[0]
	cause := c.conclude(&first.requests[0], first.posted.Number(), err)
	failed := slices.Clone(q.open)
	clear(q.open)
	q.open = q.open[:0]
	for _, h := range failed {
		number := h.posted.Number()
		c.exec.End(h.posted, true)
		h.finish(c.callError(&h.requests[0], number, cause))
	}
	q.over(len(failed))
}

// heed tells which open calls this rank is stuck in: it begins nothing else before they are over. They are all of them
// if a collective is next, and otherwise those that block the caller, with those that they are behind.
func (c *Comm) heed(q *queue) {
	all := q.drains.Load() || q.nextCollective() != nil
	if q.looks.Swap(false) {
		c.lookForWaits(q)
	}
	for i, h := range slices.Backward(q.open) {
		heeded := all || h.blocks.Load() || slices.ContainsFunc(q.open[i+1:], func(later *Handle) bool {
			return later.heeded && later.posted.IsBehind(h.posted)
		})
		h.heeded = heeded
		c.exec.Heed(h.posted, heeded)
	}
}

// lookForWaits has a call block its caller that somebody has waited for, without a deadline, for as long as ranks that
// wait for each other have to stay so. Other goroutines of such a rank do not seem to start what it needs.
func (c *Comm) lookForWaits(q *queue) {
	now := time.Now()
	for _, h := range q.open {
		switch {
		case h.waits.Load() == 0:
			if !h.since.IsZero() {
				h.since = time.Time{}
				h.blocks.Store(h == &q.own)
			}
		case h.since.IsZero():
			h.since = now
		case now.Sub(h.since) >= c.world.limits.Over(0).Holds:
			h.blocks.Store(true)
		}
	}
}

// suspect has waits for open calls be looked at.
func (c *Comm) suspect() {
	if q := c.queue.Load(); q != nil && q.waits.Load() > 0 {
		q.looks.Store(true)
		q.nudge()
	}
}
