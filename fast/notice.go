package fast

import (
	"errors"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// end ends c, and reports whether it had not ended before.
func (c *Comm) end(s State, err error) bool {
	if !c.termination.CompareAndSwap(nil, &failure.Termination{State: s, Err: err}) {
		return false
	}
	close(c.ended)
	c.logEnd(events.Fate, err)
	c.changes.Announce()
	return true
}

// fail gives c up for all ranks because of err, the error of its call.
func (c *Comm) fail(err error) { c.giveUp(Failed, err, c.exec.Call.Seq()) }

// giveUp ends c in state s on this rank, unless it has ended, and tells the others. Seq is the number of the call that
// failed, if any.
func (c *Comm) giveUp(s State, err error, seq uint64) {
	c.notifying.Lock()
	open := !c.closed.Load() // otherwise the others have been told
	first := c.end(s, err)
	if first && open {
		c.tell(failure.NoticeOf(s, c.rank, seq, err))
	}
	c.notifying.Unlock()
	if !first {
		return
	}
	if c.exec.Transport != nil {
		c.exec.Transport.Fail(err)
	}
	c.hooked.tellFailed(err)
}

// tell sends n to all other ranks.
func (c *Comm) tell(n failure.Notice) {
	if c.world == nil {
		return
	}
	c.logNotice(events.Tell, c.rank, &n)
	body := n.Encode()
	c.sendOthers(func(int) []byte { return body })
}

// sendOthers sends to each other rank the notice for it.
func (c *Comm) sendOthers(notice func(rank int) []byte) {
	for rank := range c.size {
		if rank != c.rank {
			c.world.plane.Send(c.process(rank), wire.Topic{Comm: c.id, Kind: control.KindNotice}, notice(rank))
		}
	}
}

// handleNotice takes a notice of another rank.
func (c *Comm) handleNotice(m wire.Note) {
	from := c.rankOf(m.From)
	n, ok := failure.DecodeNotice(m.Body, c.size)
	if from < 0 || !ok {
		return
	}
	c.logNotice(events.Heard, from, &n)
	switch n.State {
	case Closed:
		if past, ok := failure.DecodeCalls(n.Past); ok {
			c.farewells[from].Store(&past)
		}
		c.missing(from, n.Linked)
	case Revoked:
		c.condemn(Revoked, n.Meaning(c.rank, c.size), n)
	default:
		err := c.failure(&n)
		c.membership.CallOff(n.Agreement, err) // before calls fail and the caller shrinks c
		c.condemn(Failed, err, n)
	}
}

// lost handles that a process is down because of err.
func (c *Comm) lost(process int, err error) {
	rank := c.rankOf(process)
	switch {
	case rank < 0:
		return
	case errors.Is(err, ErrClosed):
		c.missing(rank, true) // if it could, it sent a notice for this communicator first
		return
	case rank != c.rank:
		defer c.monitor.Gone(rank, err) // after c has ended
		defer c.messages.Gone(rank, err)
		err = &PeerError{Rank: rank, Err: err}
	}
	c.logEnd(events.Lost, err)
	c.condemn(Failed, err, failure.NoticeOf(Failed, c.rank, 0, err))
}

// condemn gives c up with err for a reason from outside its calls, which now fail with it. First it tells the others,
// or passes on the notice that it got: the rank that sent it may not reach all of them, or may exit before it does.
func (c *Comm) condemn(s State, err error, n failure.Notice) {
	c.notifying.Lock()
	first := c.end(s, err)
	if relayed, ok := n.Relayed(c.rank, c.size); ok && first {
		c.tell(relayed)
	}
	c.notifying.Unlock()
	if !first {
		return
	}
	if c.exec.Transport != nil {
		c.exec.Transport.Fail(err)
	}
	c.track.SaveSoon(err)
	c.hooked.tellFailed(err)
}

// failure returns what n means to this rank, as an error.
func (c *Comm) failure(n *failure.Notice) error {
	if n.State == Failed {
		if err := c.detector.Explain(n.Ring, n.By); err != nil {
			return err
		}
	}
	return n.Meaning(c.rank, c.size)
}

// settle gives c up, for all ranks, because the transport failed with err. It returns the error that the call reports.
func (c *Comm) settle(err error) error {
	if peer, ok := failure.Within[*PeerError](err); ok && c.world != nil {
		err = c.departure(c.hear(err, peer.Rank))
	}
	mismatch, ok := failure.Within[*MismatchError](err)
	if ok && c.world != nil && (mismatch.TheirSeq > mismatch.Seq || mismatch.Field == wire.Earlier) {
		// The other rank has gone on, and may know how its call of that number differed.
		if mismatch.Field == wire.Earlier {
			c.tellPast(mismatch.Rank)
		}
		if better, ok := failure.Within[*MismatchError](c.hear(err, mismatch.Rank)); ok {
			err = better
		}
	}
	c.fail(err)
	c.flush()
	return err
}

// flush waits until the notice of the end of c is on its way to the others: the program may exit because of it.
func (c *Comm) flush() {
	if c.world == nil {
		return
	}
	c.notifying.Lock() // the notice is sent; handlers must not wait, so Flush is called without it
	p := c.world.plane
	c.notifying.Unlock()
	p.Flush(flushTime)
}

// flushTime bounds flush.
const flushTime = 100 * time.Millisecond

// hear waits for a better reason than err for the failure of a link to rank, and returns it, or else err.
func (c *Comm) hear(err error, rank int) error {
	c.listen(rank)
	switch f := c.termination.Load(); {
	case f != nil:
		return f.Err
	case c.closedRanks[rank].Load():
		return &PeerError{Rank: rank, Err: ErrClosed}
	}
	return err
}

// listen waits until c has ended or rank has closed it, but no longer than failure.RootCauseWait.
func (c *Comm) listen(rank int) {
	late := time.After(failure.RootCauseWait)
	for waits := true; waits; {
		change := c.changes.Next()
		if c.termination.Load() != nil || c.closedRanks[rank].Load() {
			break
		}
		select {
		case <-change:
		case <-late:
			waits = false
		}
	}
}

// If the calls of two ranks carry different hashes of earlier calls, the ranks disagreed earlier, in a call without a
// message between them. Only their flight recorders know in which one. So each sends the other its latest collectives
// before it gives up, and compares those that it receives with its own.

// tellPast sends a rank the latest collectives of this one.
func (c *Comm) tellPast(rank int) {
	c.world.plane.Send(c.process(rank), wire.Topic{Comm: c.id, Kind: control.KindPast},
		failure.EncodeCalls(c.track.LastCollectives(failure.MaxPast)))
}

// closingPast is how many collectives a rank that closes tells the others: a rank that waits for it may be in a
// different one.
const closingPast = 8

// closingNotice returns the notice that this rank closes c.
func (c *Comm) closingNotice() failure.Notice {
	return failure.Notice{State: Closed, By: c.rank, Cause: failure.Cause{Rank: c.rank},
		Past: failure.EncodeCalls(c.track.LastCollectives(closingPast))}
}

// departure returns err or, if it says that a rank has closed whose latest calls differ from those of this rank, the
// mismatch.
func (c *Comm) departure(err error) error {
	peer, ok := failure.Within[*PeerError](err)
	if !ok || !errors.Is(peer.Err, ErrClosed) || peer.Rank < 0 || peer.Rank >= c.size {
		return err
	}
	if theirs := c.farewells[peer.Rank].Load(); theirs != nil {
		if mismatch := wire.FirstMismatch(peer.Rank, c.track.LastCollectives(failure.MaxPast), *theirs); mismatch != nil {
			return mismatch
		}
	}
	return err
}

// handlePast takes the latest collectives of another rank, and gives c up because of the first that differs from the
// call of this rank.
func (c *Comm) handlePast(m wire.Note) {
	from := c.rankOf(m.From)
	theirs, ok := failure.DecodeCalls(m.Body)
	if from < 0 || from == c.rank || !ok || c.closed.Load() {
		return
	}
	if err := wire.FirstMismatch(from, c.track.LastCollectives(failure.MaxPast), theirs); err != nil {
		c.condemn(Failed, err, failure.NoticeOf(Failed, c.rank, err.Seq, err))
	}
}

// tellClosed sends n, the notice that this rank has closed c, to all others. It tells each of them whether data may be
// on their way to it.
func (c *Comm) tellClosed(n failure.Notice) {
	if c.world == nil {
		return
	}
	c.logNotice(events.Tell, c.rank, &n)
	bare := n.Encode()
	n.Linked = true
	linked := n.Encode()
	t, ok := c.exec.Transport.(transport.Linker)
	c.sendOthers(func(rank int) []byte {
		if ok && t.Linked(rank) {
			return linked
		}
		return bare
	})
}

// missing handles that a rank has closed c. A rank that waits for it finds out once it has all that was sent.
func (c *Comm) missing(rank int, linked bool) {
	if c.closedRanks[rank].Swap(true) {
		return
	}
	c.changes.Announce()
	c.monitor.Gone(rank, ErrClosed)
	c.messages.Gone(rank, ErrClosed)
	if t, ok := c.exec.Transport.(transport.Leaver); ok {
		t.Left(rank, linked)
	}
}
