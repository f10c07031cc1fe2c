package fast

import (
	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// searched is a communicator as package deadlock needs it.
type searched struct{ *Comm }

// Healthy reports whether calls can be made.
func (c searched) Healthy() bool { return c.State() == Healthy }

// Send sends a control message to a rank.
func (c searched) Send(to int, kind uint8, body []byte) {
	c.world.plane.Send(c.process(to), wire.Topic{Comm: c.id, Kind: kind}, body)
}

// Fail gives c up because of a ring, of which this rank is the first.
func (c searched) Fail(err error, seq uint64, ring []byte) {
	n := failure.NoticeOf(Failed, c.rank, seq, err)
	n.Ring = ring
	c.condemn(Failed, err, n)
}

// Pending reports whether started calls are not over yet.
func (c searched) Pending() bool {
	q := c.queue.Load()
	return q != nil && q.pending.Load() > 0
}

// BlocksCaller reports whether the call in progress was not started, or one that was not started waits for it.
func (c searched) BlocksCaller() bool {
	q := c.queue.Load()
	return q == nil || q.pending.Load() == 0 || q.drains.Load()
}

// HasMade reports whether this rank has made its part of a call that another rank is in.
func (c searched) HasMade(call *wire.Call, other int) bool { return c.exec.HasMade(call, other) }

// HasBegun reports whether this rank has begun o, or never will.
func (c searched) HasBegun(o deadlock.Operation) bool {
	if o.Group != 0 {
		c.groups.mu.Lock()
		defer c.groups.mu.Unlock()
		return c.groups.made[o.Group] >= o.Number
	}
	return c.membership.HasBegun(o.Number)
}

// Mismatched gives c up because this rank is in o, which waits for a rank that is in a call.
func (c searched) Mismatched(o deadlock.Operation, name string, err *MismatchError) {
	n := failure.NoticeOf(Failed, c.rank, o.Number, err)
	if o.Group == 0 && name != agree.Shrink.String() {
		n.Agreement = o.Number
	}
	c.condemn(Failed, err, n)
	if c.Err() == error(err) { // and not because of something else meanwhile
		c.membership.CallOff(n.Agreement, err)
	}
}

// handleProbe and handleInquiry take control messages for the search.
func (c *Comm) handleProbe(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.detector.HandleProbe(from, m.Body)
	}
}

func (c *Comm) handleInquiry(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.detector.HandleInquiry(from, m.Body)
	}
}
