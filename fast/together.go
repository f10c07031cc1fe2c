package fast

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Point-to-point calls that begin together: all of their messages are in flight in one Exchange, so that none has to
// wait for another's end.

// together makes the calls of c.group. Its error is the cause alone, which is the same for all of them.
func (c *Comm) together(ctx context.Context) error {
	defer c.leave()
	x := &c.call
	c.descs = slices.Grow(c.descs[:0], len(c.group))[:len(c.group)]
	err := c.listAll(ctx)
	if err == nil && c.transport != nil {
		if events.On {
			c.followStep()
		}
		err = c.transport.Exchange(ctx, x.sends, x.recvs)
		if events.On {
			c.followDone(err)
		}
	}
	x.running = false
	if err != nil {
		return c.conclude(&c.group[0], c.descs[0].Seq, err)
	}
	c.track.end()
	if events.On {
		c.followCallEnd(nil)
	}
	return nil
}

// listAll lists the messages of the calls of c.group.
func (c *Comm) listAll(ctx context.Context) error {
	c.call.together = true
	defer func() { c.call.together = false }()
	for i := range c.group {
		if err := c.list(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// list lists the message of one call of c.group, of which each says which call it belongs to. What a rank sends to
// itself is copied.
func (c *Comm) list(ctx context.Context, at int) error {
	r, d, x := &c.group[at], &c.descs[at], &c.call
	if r.args.Root == r.args.Peer {
		copy(r.dst, r.src)
		d.Seq = 0
		return nil
	}
	made := c.counter(r)
	*made++
	*d = r.describe()
	d.Seq = *made
	x.begin(r, r.src, *made)
	sends, recvs := len(x.sends), len(x.recvs)
	if err := r.a.Run(ctx, x); err != nil {
		return err
	}
	x.record()
	for i := range x.sends[sends:] {
		x.sends[sends+i].Call = d
	}
	for i := range x.recvs[recvs:] {
		x.recvs[recvs+i].Call = d
	}
	if events.On {
		x.followCall(wire.NewMark(d))
		x.followList(sends, recvs)
	}
	if len(x.sends) == sends && len(x.recvs) == recvs { // announced all the same, as by Call.announce
		c.transport.Begin(wire.NewMark(d))
	}
	return nil
}

// ungroup forgets the calls of c.group and their memory.
func (c *Comm) ungroup() {
	clear(c.group)
	c.group = c.group[:0]
}
