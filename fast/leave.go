package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// deliver waits, after Close, until what t has sent to all who are not down has arrived.
func (c *Comm) deliver(t transport.Lingerer) {
	stop := c.world.plane.Watch(func(process int, _ error) {
		switch rank := c.rankOf(process); rank {
		case -1:
		case c.rank:
			c.stopDelivery()
		default:
			t.GiveUp(rank)
		}
	})
	defer stop()
	ctx, stopWatch := c.world.record.Warner().Watch(context.Background(), "Close", "comm", c.name, "rank", c.rank, "size", c.size)
	defer stopWatch()
	wire.Awaiting(ctx, c.exec.Transport.Waiting)
	t.Wait()
}

// stopDelivery ends that wait.
func (c *Comm) stopDelivery() {
	if t, ok := c.exec.Transport.(transport.Lingerer); ok {
		for rank := range c.size {
			t.GiveUp(rank)
		}
	}
}

// tellClosed tells all other ranks n, that this one has closed c, and each whether something may still be on its way to
// it.
func (c *Comm) tellClosed(n notice) {
	if c.world == nil {
		return
	}
	c.logNotice(events.Tell, c.rank, &n)
	bare := n.encode()
	n.Linked = true
	linked := n.encode()
	t, ok := c.exec.Transport.(transport.Linker)
	c.sendOthers(func(rank int) []byte {
		if ok && t.Linked(rank) {
			return linked
		}
		return bare
	})
}

// missing takes note that a rank has closed. Who waits for it finds out when all that it sent has come.
func (c *Comm) missing(rank int, linked bool) {
	if c.closedRanks[rank].Swap(true) {
		return
	}
	c.news.tell()
	if t, ok := c.exec.Transport.(transport.Leaver); ok {
		t.Left(rank, linked)
	}
}
