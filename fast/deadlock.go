package fast

import "github.com/collgen/collgen/fast/internal/wire"

// ringError returns what a ring means to the rank at that place: a MismatchError with the next rank, of those whose
// call is to be the same as its own, that is in another one. If all are in point-to-point calls it is a DeadlockError.
func ringError(ring []edge, at int) error {
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
		e.Add(int(ring[i].Rank), &ring[i].Call)
	}
	return e
}

// condemnRing gives c up because of a ring, of which this rank is the first.
func (c *Comm) condemnRing(ring []edge) {
	err := ringError(ring, 0)
	n := noticeOf(Failed, c.rank, ring[0].Call.Seq, err)
	n.Ring = encodeEdges(ring)
	c.condemn(Failed, err, n)
}

// failure returns what a notice means to this rank. A ring is believed, as far as it concerns this rank, if the rank
// stands where it says; whoever says so wrongly has given up, as it may in any case.
func (c *Comm) failure(n *notice) error {
	if ring, ok := decodeEdges(n.Ring, c.size); ok && len(ring) > 1 && n.State == Failed && int(ring[0].Rank) == n.By {
		if at := placeIn(ring, c.rank); at > 0 && c.waitState(0).isIn(&ring[at]) {
			return ringError(ring, at)
		}
	}
	return n.failure(c.rank, c.size)
}
