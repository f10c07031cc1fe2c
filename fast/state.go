package fast

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/internal/events"
)

// State is how a communicator is: Healthy, then at most one of Failed, Revoked and Aborted, and Closed in the end.
type State uint8

// The states of a communicator on one rank.
const (
	Healthy State = iota
	Failed        // a call failed, here or on another rank
	Revoked       // a rank has revoked it, for all
	Aborted       // this rank has aborted it
	Closed        // this rank has closed it
)

// String returns the state's name.
func (s State) String() string {
	names := [...]string{"Healthy", "Failed", "Revoked", "Aborted", "Closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// termination is how and why a communicator ended.
type termination struct {
	state State
	err   error
}

// State returns the state of c on this rank. A nil Comm is Closed.
func (c *Comm) State() State {
	if c == nil {
		return Closed
	}
	f := c.termination.Load()
	switch {
	case c.closed.Load():
		return Closed
	case f != nil:
		return f.state
	}
	return Healthy
}

// Err returns why c is not healthy: the first failure, or what is ErrRevoked or ErrAborted; nil if it is, or was when
// it was closed.
func (c *Comm) Err() error {
	if c == nil {
		return nil
	}
	if f := c.termination.Load(); f != nil {
		return f.err
	}
	return nil
}

// end sets the fate of c, unless it has one.
func (c *Comm) end(s State, err error) bool {
	if !c.termination.CompareAndSwap(nil, &termination{s, err}) {
		return false
	}
	close(c.ended)
	c.logEnd(events.Fate, err)
	c.news.tell()
	return true
}

// news is that something has changed: the communicator has ended or was closed, or another rank has closed it.
type news struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

// coming is closed when there is something new.
func (n *news) coming() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// fail gives the communicator up because of err, for all ranks.
func (c *Comm) fail(err error) { c.giveUp(Failed, err, c.exec.Call.Seq()) }

// giveUp is the end of c in state s on this rank, unless it has ended, and tells the others. Seq is the number of the
// call that has failed, if any.
func (c *Comm) giveUp(s State, err error, seq uint64) {
	c.notifying.Lock()
	open := !c.closed.Load() // who has closed has told the others that
	first := c.end(s, err)
	if first && open {
		c.tell(noticeOf(s, c.rank, seq, err))
	}
	c.notifying.Unlock()
	if first && c.exec.Transport != nil {
		c.exec.Transport.Fail(err)
	}
}

// errAborted is the fate of a communicator that was given up here, and not because of a failure.
var errAborted = fmt.Errorf("%w by Abort", ErrAborted)

// Abort gives c up on this rank, and tells the others. A call that runs on c, and every later one, returns ErrAborted;
// on other ranks, calls get a PeerError with ErrAborted. Abort waits for nobody. It may be called from any goroutine,
// at any time, more than once.
func (c *Comm) Abort() {
	if c != nil && c.size > 0 && !fork.Child() {
		c.giveUp(Aborted, errAborted, 0)
		c.stopDelivery()
		if c.membership != nil {
			c.membership.Leave(ErrAborted)
		}
	}
}

// finishTime is how long Close waits for started calls of which nothing moves.
const finishTime = time.Second

// Close leaves the communicator. Calls that were started may end before, as long as they make progress: until nothing
// has moved for a second. A call that runs in another goroutine returns ErrClosed, as every later one does. On other
// ranks, a call that waits for this rank gets a PeerError with ErrClosed, after all that this rank has sent. Closing
// again does nothing. Memory of Alloc goes, too.
//
// Apart from started calls Close waits for no other rank, but where it closes the last communicator of a process:
// before it ends the connections to all others, it waits until the hosts of the other ranks have what was sent, so that
// the process may exit. That takes as long as the network needs, and where a host has no room for more, until the rank
// there receives or closes, ends or is taken for dead; the logger warns of it as of a slow call. Abort ends the wait,
// and what has not arrived is lost then. After a failure it takes 0.1 s at most.
//
// Its error joins those of the first 16 calls that could not be started and that nobody has waited for.
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
	c.news.tell()
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
	c.memory.Close(c.busy.Set, c.busy.Unset)
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
