package fast

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Revoke gives c up for all ranks. Calls in progress on it, and later ones, return ErrRevoked, on every other rank as
// soon as it gets the notice. A rank that cannot be told has failed itself, and then c has failed on the others. By
// Revoke, a rank that knows of a failure gets all others out of calls that do not depend on the failed rank, before all
// call Shrink.
//
// Revoke does not wait. It may be called from any goroutine, at any time, more than once. If c is not healthy any more,
// all ranks learn that anyway, and Revoke does nothing. Agree and Shrink work on a revoked communicator.
//
// It fails with ErrClosed, with ErrForked, and with ErrInvalidArgument if c is nil.
func (c *Comm) Revoke() error {
	switch {
	case c == nil || c.size == 0:
		return wire.Refuse("Revoke", "the communicator is nil or was made by neither Run nor Init")
	case fork.Child():
		return c.refusedError("Revoke", ErrForked)
	case c.closed.Load():
		return c.refusedError("Revoke", ErrClosed)
	}
	c.giveUp(Revoked, fmt.Errorf("rank %d: %w", c.rank, ErrRevoked), 0)
	return nil
}

// errAborted is the error of a communicator that this rank has aborted.
var errAborted = fmt.Errorf("%w by Abort", ErrAborted)

// Abort gives c up on this rank, and tells the others. The call in progress on c, and every later one, returns
// ErrAborted; on other ranks, calls get a PeerError with ErrAborted. Abort does not wait. It may be called from any
// goroutine, at any time, more than once.
func (c *Comm) Abort() { c.abort(errAborted) }

// abort is Abort for a reason.
func (c *Comm) abort(reason error) {
	if c != nil && c.size > 0 && !fork.Child() {
		c.giveUp(Aborted, reason, 0)
		c.track.Save(reason) // the others need not wait for the disk
		c.stopDelivery()
		if c.membership != nil {
			c.membership.Leave(ErrAborted)
		}
	}
}

// finishTime is how long Close waits for started calls that make no progress.
const finishTime = time.Second

// Close leaves the communicator. Started calls may still end while they make progress: Close waits until there was none
// for a second. A call in another goroutine returns ErrClosed, as every later one does. On other ranks, a call that
// waits for this rank gets a PeerError with ErrClosed, after all data that this rank has sent. Close also frees memory
// of Alloc. Closing again does nothing.
//
// Otherwise Close does not wait for other ranks, unless it closes the last communicator of a process. Then it first
// waits until the hosts of the other ranks have the data that were sent, so that the process may exit. If such a host
// has no room, that takes until its rank receives, closes, ends, or is taken for dead; the logger warns of it as of a
// slow call. Abort ends the wait, and data that have not arrived are lost. After a failure the wait takes 0.1 s at
// most.
//
// The error joins those of the first 16 calls that could not be started and whose errors nobody has asked for.
func (c *Comm) Close() error {
	if c == nil {
		return nil
	}
	if fork.Child() {
		return c.refusedError("Close", ErrForked)
	}
	c.finishStarted(finishTime)
	if c.closed.Swap(true) {
		return nil
	}
	c.changes.Announce()
	c.monitor.Leave()
	c.messages.Leave()
	err := c.refusals.unseen()
	farewell := c.closingNotice()
	c.track.Leave()
	c.notifying.Lock()
	c.tellClosed(farewell)
	c.notifying.Unlock()
	c.logEnd(events.Closed, nil)
	if c.exec.Transport != nil {
		err = errors.Join(err, c.exec.Transport.Close())
	}
	if t, ok := c.exec.Transport.(transport.Lingerer); ok && c.world != nil {
		c.world.leaving.Go(func() { c.deliver(t) })
	}
	c.endStarted()
	c.hooked.tellClosed()
	c.memory.Close(func() bool { return !c.messages.Uses(anyBuffer) && c.busy.Set() }, c.busy.Unset)
	if c.world == nil {
		return err
	}
	c.unwatch()
	c.membership.Leave(ErrClosed)
	c.world.plane.Forget(c.id)
	if c.world.users.Add(-1) == 0 {
		c.world.leaving.Wait()
		err = errors.Join(err, c.world.plane.Close())
		c.world.record.Close()
		err = errors.Join(err, c.world.events.close())
	}
	return err
}

// anyBuffer is true of every buffer of a message. Such calls end soon after Close, each in its own goroutine.
func anyBuffer([]byte) bool { return true }

// deliver waits, after Close, until the data that t sent have arrived at all ranks that are not down.
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
	ctx, stopWatch := c.world.record.Warner().Watch(context.Background(), "Close", "comm", c.name, "rank", c.rank,
		"size", c.size)
	defer stopWatch()
	wire.ReportWait(ctx, c.exec.Transport.Waiting)
	t.Wait()
}

// stopDelivery ends deliver.
func (c *Comm) stopDelivery() {
	if t, ok := c.exec.Transport.(transport.Lingerer); ok {
		for rank := range c.size {
			t.GiveUp(rank)
		}
	}
}
