package fast

import (
	"encoding/binary"
	"errors"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Two ranks whose calls carry different hashes of those before have disagreed earlier, in a call that had no message
// between them. In which one only their flight recorders know. So each sends the other one the collectives that it has
// made last, before it gives up, and who receives them compares them with its own.

// maxPast is how many collectives a rank tells another one.
const maxPast = 128

// tellPast sends a rank the collectives that this one has made last.
func (c *Comm) tellPast(rank int) {
	c.world.plane.Send(c.process(rank), wire.Topic{Comm: c.id, Kind: control.KindPast}, encodePast(c.track.LastCollectives(maxPast)))
}

// encodePast returns what decodePast takes.
func encodePast(calls []wire.Call) []byte {
	body, err := binary.Append(nil, binary.LittleEndian, calls)
	if err != nil {
		panic(err) // of numbers
	}
	return body
}

// lastWords is how many collectives a rank that closes tells the others: those that wait for it may have been in
// another one.
const lastWords = 8

// closingNotice returns the notice that this rank closes.
func (c *Comm) closingNotice() notice {
	return notice{State: Closed, By: c.rank, Cause: failure.Cause{Rank: c.rank}, Past: encodePast(c.track.LastCollectives(lastWords))}
}

// departure returns err or, if that is that a rank has closed which had made another call than this one, their
// mismatch.
func (c *Comm) departure(err error) error {
	peer, ok := failure.Within[*PeerError](err)
	if !ok || !errors.Is(peer.Err, ErrClosed) || peer.Rank < 0 || peer.Rank >= c.size {
		return err
	}
	if theirs := c.farewells[peer.Rank].Load(); theirs != nil {
		if mismatch := wire.FirstMismatch(peer.Rank, c.track.LastCollectives(maxPast), *theirs); mismatch != nil {
			return mismatch
		}
	}
	return err
}

// decodePast returns the calls in b, at most maxPast.
func decodePast(b []byte) ([]wire.Call, bool) {
	size := binary.Size(wire.Call{})
	if len(b)%size != 0 || len(b)/size > maxPast {
		return nil, false
	}
	calls := make([]wire.Call, len(b)/size)
	_, err := binary.Decode(b, binary.LittleEndian, calls)
	return calls, err == nil
}

// heardPast takes the collectives of another rank, and gives c up for the first in which this one has made another
// call.
func (c *Comm) heardPast(m wire.Note) {
	from := c.rankOf(m.From)
	theirs, ok := decodePast(m.Body)
	if from < 0 || from == c.rank || !ok || c.closed.Load() {
		return
	}
	if err := wire.FirstMismatch(from, c.track.LastCollectives(maxPast), theirs); err != nil {
		c.condemn(Failed, err, noticeOf(Failed, c.rank, err.Seq, err))
	}
}
