package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// cause is what a rank tells the others of a failure, so that these make an error of the same type of it.
type cause struct {
	Text string // in words
	// The rank at fault, if that is another one: Down is how, one of downs, or its call does not match in Field.
	Rank                int
	Down                string `json:",omitempty"`
	Field, Mine, Theirs string
	Mismatched          [2]uint64 // the numbers of the two calls, the teller's and the other one's
	Ended               string    `json:",omitempty"` // one of ends: the teller's context has
	Waiting             []int     `json:",omitempty"` // for which ranks it was waiting then: the first of them
	Ranks               []int     `json:",omitempty"` // that wait for each other
	Sends               []bool    `json:",omitempty"` // as of a DeadlockError
	Over                bool      `json:",omitempty"` // of a founding: the communicator has ended that the new one is made from
}

// downs are the ways in which a rank can be down, or have no room for connections, and ends those in which a context can end, under the names that causes give them.
var (
	downs = errorNames{{"died", ErrDied}, {"frozen", ErrFrozen}, {"closed", ErrClosed}, {"exhausted", ErrExhausted}}
	ends  = errorNames{{"deadline", context.DeadlineExceeded}, {"canceled", context.Canceled}}
)

// errorNames is errors with their names.
type errorNames []struct {
	name string
	err  error
}

// of is the name of the first one that err is; "": it is none of them.
func (all errorNames) of(err error) string {
	for _, x := range all {
		if errors.Is(err, x.err) {
			return x.name
		}
	}
	return ""
}

// by is the error of that name; nil: there is none.
func (all errorNames) by(name string) error {
	for _, x := range all {
		if x.name == name {
			return x.err
		}
	}
	return nil
}

// maxListed is how many ranks are told in a list: as many as a deadlock has at most. With them a notice fits into a control message.
const maxListed = maxRing

// listed is what is told of a list.
func listed[T any](all []T) []T { return all[:min(len(all), maxListed)] }

// causeOf is the cause of a failure on rank self.
func causeOf(self int, err error) cause {
	text := err.Error()
	n := cause{Text: text[:min(len(text), maxText)], Rank: self}
	timeout, expired := wire.Expired(err)
	peer, isPeer := within[*PeerError](err)
	mismatch, mismatched := within[*MismatchError](err)
	deadlock, locked := within[*DeadlockError](err)
	switch {
	case expired && errors.As(err, new(*wire.Inner)): // the caller did not end it
	case expired:
		n.Ended, n.Waiting = ends.of(timeout.Err), listed(timeout.Waiting)
	case errors.Is(err, ErrExhausted) && !isPeer:
		n.Down = downs.of(ErrExhausted)
	case isPeer:
		if n.Down = downs.of(peer.Err); n.Down != "" {
			n.Rank = peer.Rank
		}
	case mismatched:
		n.Rank, n.Field, n.Mine, n.Theirs = mismatch.Rank, mismatch.Field, mismatch.Mine, mismatch.Theirs
		n.Mismatched = [2]uint64{mismatch.Seq, mismatch.TheirSeq}
	case locked:
		n.Ranks, n.Sends = listed(deadlock.Ranks), listed(deadlock.Sends)
	}
	return n
}

// within finds an error of type E in err, which is one of this communicator. In what ended a context it is not looked for:
// that may be the error of another communicator, whose ranks are others. Nor is it in what another rank has told of its own.
func within[E error](err error) (found E, ok bool) {
	if _, expired := wire.Expired(err); expired {
		return found, false
	}
	return wire.Own[E](err)
}

// legible has n's words without what a terminal would obey.
func (n *cause) legible() {
	for _, text := range []*string{&n.Text, &n.Field, &n.Mine, &n.Theirs} {
		*text = legible(*text)
	}
}

// typed is n as an error of the rank that tells it, one of size; nil: there are only words.
func (n *cause) typed(size int) error {
	beyond := func(rank int) bool { return rank < 0 || rank >= size }
	switch {
	case n.Field != "" && !beyond(n.Rank):
		return &MismatchError{Rank: n.Rank, Seq: n.Mismatched[0], TheirSeq: n.Mismatched[1], Field: n.Field, Mine: n.Mine, Theirs: n.Theirs}
	case len(n.Ranks) > 1 && len(n.Ranks) == len(n.Sends) && len(n.Ranks) <= size && !slices.ContainsFunc(n.Ranks, beyond):
		return &DeadlockError{Ranks: n.Ranks, Sends: n.Sends}
	case downs.by(n.Down) == ErrExhausted:
		return ErrExhausted
	case ends.by(n.Ended) != nil && !slices.ContainsFunc(n.Waiting, beyond):
		return &TimeoutError{Waiting: n.Waiting, Err: ends.by(n.Ended)}
	}
	return nil
}

// remoteError is an error of another rank, in its words, and of the type that it has there.
type remoteError struct {
	text string
	is   error // nil: of none
}

func (e *remoteError) Error() string { return e.text }

// Unwrap is the error that it is.
func (e *remoteError) Unwrap() error { return e.is }

// givenUp says that a rank of size has given up because of n.
func (n *cause) givenUp(rank, size int) error {
	return &PeerError{Rank: rank, Err: fmt.Errorf("%w: %w", ErrAborted, &remoteError{n.Text, n.typed(size)})}
}
