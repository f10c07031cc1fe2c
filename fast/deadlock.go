package fast

import (
	"errors"
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
)

// ErrDeadlock: ranks wait for each other in a ring, so that none of them ever goes on.
var ErrDeadlock = errors.New("ranks wait for each other")

// DeadlockError says that ranks wait for each other in sends and receives that none of the others will ever match: each
// for the next one, and the last for the first. It is ErrDeadlock. A ring in which one rank is in another collective call
// than the next, or in one while the next sends or receives, is a MismatchError instead.
//
// Not found are rings of more than 128 ranks, through several communicators, and through a rank that has more than 256 sends
// and receives in progress together: those calls end with their context.
type DeadlockError struct {
	Ranks []int  // at least two, in the order of the ring
	Sends []bool // whether each of them sends to the next one, or else receives from it
}

// maxTold is how many ranks of a ring its error lists.
const maxTold = 16

// Error is such as "ranks wait for each other: rank 0 sends to rank 1, which receives from rank 2, which sends to rank 0".
func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: ", ErrDeadlock)
	for i, rank := range e.Ranks {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "rank %d", rank)
		case i == maxTold:
			fmt.Fprintf(&b, ", and so on, %d ranks in all", len(e.Ranks))
			return b.String()
		default:
			b.WriteString(", which")
		}
		does := " receives from"
		if e.Sends[i] {
			does = " sends to"
		}
		fmt.Fprintf(&b, "%s rank %d", does, e.Ranks[(i+1)%len(e.Ranks)])
	}
	return b.String()
}

// Unwrap is ErrDeadlock.
func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// ringError is what a ring means to the rank at that place: a MismatchError with the next rank, of those whose call is to be
// the same as its own, that is in another one. If all are in point-to-point calls it is a DeadlockError.
func ringError(ring []hop, at int) error {
	mine := &ring[at]
	for i := range ring {
		theirs := &ring[(at+1+i)%len(ring)]
		if mine.Call.Peer != 0 && theirs.Call.Peer != 0 { // of different pairs
			continue
		}
		if err := wire.Mismatch(&mine.Call, &theirs.Call, int(theirs.Rank)); err != nil {
			return err
		}
	}
	e := new(DeadlockError)
	for i := range ring {
		e.Ranks = append(e.Ranks, int(ring[i].Rank))
		e.Sends = append(e.Sends, ring[i].Call.Root == ring[i].Rank)
	}
	return e
}

// condemnRing gives c up because of a ring, of which this rank is the first.
func (c *Comm) condemnRing(ring []hop) {
	err := ringError(ring, 0)
	n := noticeOf(Failed, c.rank, ring[0].Call.Seq, err)
	n.Ring = encodeHops(ring)
	c.condemn(Failed, err, n)
}

// failure is what a notice means to this rank. A ring is believed, as far as it concerns this rank, if the rank stands
// where it says; whoever says so wrongly has given up, as it may in any case.
func (c *Comm) failure(n *notice) error {
	if ring, ok := decodeHops(n.Ring, c.size); ok && len(ring) > 1 && n.State == Failed && int(ring[0].Rank) == n.By {
		if at := placeIn(ring, c.rank); at > 0 && c.track.stands(0).isIn(&ring[at]) {
			return ringError(ring, at)
		}
	}
	return n.failure(c.rank, c.size)
}
