package fast

import (
	"github.com/collgen/collgen/internal/events"
)

// leaver is a transport that does not see by itself that a rank has closed with which it has no connection yet. Linked: that rank has
// one, which may be on its way with what it has sent.
type leaver interface{ Left(rank int, linked bool) }

// linker is a transport that tells whether it has, or had, a connection to a rank.
type linker interface{ Linked(rank int) bool }

// waiter is a transport that goes on after Close, until what it has sent has arrived, or never will. Wait waits for that.
type waiter interface{ Wait() }

// tellClosed tells all other ranks n, that this one has closed c, and each whether something may still be on its way to it.
func (c *Comm) tellClosed(n notice) {
	if c.world == nil {
		return
	}
	if events.On {
		c.followNotice(events.Tell, c.rank, &n)
	}
	bare := n.encode()
	n.Linked = true
	linked := n.encode()
	t, ok := c.transport.(linker)
	c.sendOthers(func(rank int) []byte {
		if ok && t.Linked(rank) {
			return linked
		}
		return bare
	})
}

// missing takes note that a rank has closed. Who waits for it finds out when all that it sent has come.
func (c *Comm) missing(rank int, linked bool) {
	if c.departed[rank].Swap(true) {
		return
	}
	c.news.tell()
	if t, ok := c.transport.(leaver); ok {
		t.Left(rank, linked)
	}
}
