package fast

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// notice is what a rank tells the others when it gives the communicator up, or revokes it.
type notice struct {
	State         State
	By            int    // the rank whose notice it is; others pass it on
	Seq           uint64 // of its call
	failure.Cause        // why: its ranks are as By sees them
	Past          []byte // of a rank that closes: the collectives that it has made last
	// State is Closed: By has a connection to who gets this, over which something may be on its way.
	Linked bool
	Ring   []byte // edges of ranks that wait for each other, of which By is the first; none: it is not that
	// Agreement is the number of the Agree or Grow in which By was, which never ends; 0: it was in none.
	Agreement uint64 `json:",omitempty"`
}

// noticeOf returns the notice of a failure on rank self.
func noticeOf(s State, self int, seq uint64, err error) notice {
	return notice{State: s, By: self, Seq: seq, Cause: failure.Of(self, err)}
}

// failure returns what n means to rank self of size.
func (n *notice) failure(self, size int) error {
	switch {
	case n.State == Revoked:
		return fmt.Errorf("rank %d: %w", n.By, ErrRevoked)
	case n.Rank < 0 || n.Rank >= size:
	case n.Field != "" && n.Rank == self:
		return &MismatchError{Rank: n.By, Seq: n.Mismatched[1], TheirSeq: n.Mismatched[0], Field: n.Field, Mine: n.Theirs,
			Theirs: n.Mine}
	case n.Rank == self && n.Down == "frozen":
		return fmt.Errorf("%w: rank %d says %s", ErrFenced, n.By, n.Text)
	case n.Rank == self && n.By != self && n.Down == "exhausted":
		return fmt.Errorf("%w: rank %d says %s", ErrExhausted, n.By, n.Text)
	case failure.Downs.By(n.Down) != nil && n.Rank != self && n.Rank != n.By:
		return &PeerError{Rank: n.Rank, Err: failure.Downs.By(n.Down)}
	}
	return n.GivenUp(n.By, size)
}

// tell sends n to all other ranks.
func (c *Comm) tell(n notice) {
	if c.world == nil {
		return
	}
	c.logNotice(events.Tell, c.rank, &n)
	body := n.encode()
	c.sendOthers(func(int) []byte { return body })
}

// sendOthers sends each of the other ranks its notice.
func (c *Comm) sendOthers(notice func(rank int) []byte) {
	for rank := range c.size {
		if rank != c.rank {
			c.world.plane.Send(c.process(rank), wire.Topic{Comm: c.id, Kind: control.KindNotice}, notice(rank))
		}
	}
}

// encode returns n for the others.
func (n *notice) encode() []byte {
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

// decodeNotice returns the notice in b of a rank of size.
func decodeNotice(b []byte, size int) (n notice, ok bool) {
	if json.Unmarshal(b, &n) != nil || n.By < 0 || n.By >= size {
		return notice{}, false
	}
	n.Clean()
	return n, true
}

// noticed takes a notice that has come.
func (c *Comm) noticed(m wire.Note) {
	from := c.rankOf(m.From)
	n, ok := decodeNotice(m.Body, c.size)
	if from < 0 || !ok {
		return
	}
	c.logNotice(events.Heard, from, &n)
	switch n.State {
	case Closed:
		if past, ok := decodePast(n.Past); ok {
			c.farewells[from].Store(&past)
		}
		c.missing(from, n.Linked)
	case Revoked:
		c.condemn(Revoked, n.failure(c.rank, c.size), n)
	default:
		err := c.failure(&n)
		c.membership.CallOff(n.Agreement, err) // before calls fail, after which the caller shrinks c
		c.condemn(Failed, err, n)
	}
}

// lost takes note that a process is down.
func (c *Comm) lost(process int, err error) {
	rank := c.rankOf(process)
	switch {
	case rank < 0:
		return
	case errors.Is(err, ErrClosed):
		c.missing(rank, true) // it has said more of this communicator before, if it could
		return
	case rank != c.rank:
		err = &PeerError{Rank: rank, Err: err}
	}
	c.logEnd(events.Lost, err)
	c.condemn(Failed, err, noticeOf(Failed, c.rank, 0, err))
}

// condemn gives c up for a reason that does not come from its own calls, which now fail with it. Before that it tells
// the others, or passes on what it was told: who says so may not reach all of them, or end before all have heard.
func (c *Comm) condemn(s State, err error, n notice) {
	c.notifying.Lock()
	first := c.end(s, err)
	if n.By != c.rank && len(n.Ring) > maxRelayedRing {
		n.Ring = nil
	}
	if first && (n.By == c.rank || c.size <= maxRelayed) {
		c.tell(n)
	}
	c.notifying.Unlock()
	if !first {
		return
	}
	if c.exec.Transport != nil {
		c.exec.Transport.Fail(err)
	}
	c.track.SaveSoon(err)
}

// maxRelayed is the largest communicator whose ranks all pass on what one of them says: that takes a message from each
// to each.
const maxRelayed = 128

// maxRelayedRing is how many bytes of a ring are passed on.
const maxRelayedRing = 4 << 10

// settle returns the error that a call reports whose transport failed with err. It gives c up, for all ranks.
func (c *Comm) settle(err error) error {
	if peer, ok := failure.Within[*PeerError](err); ok && c.world != nil {
		err = c.departure(c.hear(err, peer.Rank))
	}
	mismatch, ok := failure.Within[*MismatchError](err)
	if ok && c.world != nil && (mismatch.TheirSeq > mismatch.Seq || mismatch.Field == wire.Earlier) {
		// The other rank, which has gone on, may know in what its own call of that number was different.
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

// flush waits until the news of the end of c is on its way to the others: the program may end because of it.
func (c *Comm) flush() {
	if c.world == nil {
		return
	}
	c.notifying.Lock() // when they are told; handlers, which must not wait, need it meanwhile
	p := c.world.plane
	c.notifying.Unlock()
	p.Flush(flushTime)
}

// flushTime bounds the wait until the notice of a failure is on its way.
const flushTime = 100 * time.Millisecond

// hear waits for a better reason than err for the failure of a link to rank, and is that or err.
func (c *Comm) hear(err error, rank int) error {
	c.listen(rank)
	switch f := c.termination.Load(); {
	case f != nil:
		return f.err
	case c.closedRanks[rank].Load():
		return &PeerError{Rank: rank, Err: ErrClosed}
	}
	return err
}

// listen waits until c has ended or rank has closed it, as long as failure.RootCauseWait.
func (c *Comm) listen(rank int) {
	late := time.After(failure.RootCauseWait)
	for waits := true; waits; {
		news := c.news.coming()
		if c.termination.Load() != nil || c.closedRanks[rank].Load() {
			break
		}
		select {
		case <-news:
		case <-late:
			waits = false
		}
	}
}

// processes returns the numbers of all ranks' processes.
func (c *Comm) processes() []int {
	all := make([]int, c.size)
	for rank := range all {
		all[rank] = c.process(rank)
	}
	return all
}

// ranks returns the numbers of all ranks.
func (c *Comm) ranks() []int {
	all := make([]int, c.size)
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// process returns the number of rank's process in the job.
func (c *Comm) process(rank int) int {
	if c.members == nil {
		return rank
	}
	return c.members[rank]
}

// rankOf returns the rank of a process, or -1.
func (c *Comm) rankOf(process int) int {
	if c.members != nil {
		return slices.Index(c.members, process)
	}
	if process < 0 || process >= c.size {
		return -1
	}
	return process
}
