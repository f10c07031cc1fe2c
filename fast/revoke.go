package fast

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Revoke gives c up for all ranks: calls that run on it, and later ones, return ErrRevoked, here and on every other
// rank as soon as it hears of it. A rank that cannot be told has failed itself, and then c has failed on the others. It
// is how one rank that knows of a failure gets all others out of calls that do not depend on the failed rank, before
// all call Shrink.
//
// Revoke waits for nobody. It may be called from any goroutine, at any time, more than once; on a communicator that is
// not healthy any more, which all ranks learn anyway, it does nothing. Agree and Shrink work on a revoked communicator.
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
