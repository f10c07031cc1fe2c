package wire

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDeadlock: ranks wait for each other in a ring, so that none of them ever goes on.
var ErrDeadlock = errors.New("ranks wait for each other")

// DeadlockError says that ranks wait for each other in sends and receives that none of the others will ever match: each
// for the next one, and the last for the first. It is ErrDeadlock.
type DeadlockError struct {
	Ranks []int  // at least two, in the order of the ring
	Sends []bool // whether each of them sends to the next one, or else receives from it
}

// maxTold is how many ranks of a ring its error lists.
const maxTold = 16

// Error returns such as "ranks wait for each other: rank 0 sends to rank 1, which receives from rank 2, which sends to
// rank 0".
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

// Add adds a rank, which waits for the next one in c.
func (e *DeadlockError) Add(rank int, c *Call) {
	e.Ranks, e.Sends = append(e.Ranks, rank), append(e.Sends, int(c.Root) == rank)
}

// sends reports whether rank self of a transport sends in c, a point-to-point call between it and peer. A transport may
// number its ranks otherwise than c does, if it reaches some alone; the order of ranks is the same.
func (c *Call) sends(self, peer int) bool { return (c.Root < c.Peer-1) == (self < peer) }

// Standoff returns the error of rank self, which waits for rank in mine while rank waits for it in theirs: a
// DeadlockError if each of them sends to the other or each receives from it, and otherwise what Explain says.
func Standoff(mine, theirs *Call, self, rank int, myCalls, theirCalls []Call) error {
	if mine.Peer != 0 && mine.Root != theirs.Root && mine.Peer == theirs.Root+1 && theirs.Peer == mine.Root+1 {
		return &DeadlockError{Ranks: []int{self, rank}, Sends: []bool{mine.sends(self, rank), theirs.sends(rank, self)}}
	}
	if err := Explain(mine, theirs, rank, myCalls, theirCalls); err != nil {
		return err
	}
	return nil
}
