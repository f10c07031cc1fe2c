// Package failure has the causes of failures that ranks send each other, and converts them from and to errors.
package failure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Cause is what a rank tells the others about a failure, so that they can return an error of the same type.
type Cause struct {
	Text string // in words
	// The rank at fault, if that is another one: Down is how, one of Downs, or its call does not match in Field.
	Rank                int
	Down                string `json:",omitempty"`
	Field, Mine, Theirs string
	Call                string    `json:",omitempty"` // the teller's
	Mismatched          [2]uint64 // the numbers of the two calls, the teller's and the other one's
	Ended               string    `json:",omitempty"` // one of ends: the teller's context has
	Waiting             []int     `json:",omitempty"` // for which ranks it was waiting then: the first of them
	Ranks               []int     `json:",omitempty"` // that wait for each other
	Sends               []bool    `json:",omitempty"` // as of a DeadlockError
	// of a founding: the communicator has ended that the new one is made from
	Over bool `json:",omitempty"`
}

// Downs are the ways in which a rank can be down, or have no room for connections, and Ends those in which a context
// can end, under the names that causes give them.
var (
	Downs = ErrorNames{{"died", wire.ErrDied}, {"frozen", wire.ErrFrozen}, {"closed", wire.ErrClosed},
		{"exhausted", wire.ErrExhausted}}
	Ends = ErrorNames{{"deadline", context.DeadlineExceeded}, {"canceled", context.Canceled}}
)

// ErrorNames maps errors to names.
type ErrorNames []struct {
	name string
	err  error
}

// Of returns the name of the first of the errors that err is, or "".
func (all ErrorNames) Of(err error) string {
	for _, x := range all {
		if errors.Is(err, x.err) {
			return x.name
		}
	}
	return ""
}

// By returns the error with a name, or nil.
func (all ErrorNames) By(name string) error {
	for _, x := range all {
		if x.name == name {
			return x.err
		}
	}
	return nil
}

// MaxListed is how many ranks are told in a list: as many as a deadlock has at most. With them a notice fits into a
// control message.
const MaxListed = 128

// Listed returns what is told of a list.
func Listed[T any](all []T) []T { return all[:min(len(all), MaxListed)] }

// Of returns the cause of a failure on rank self.
func Of(self int, err error) Cause {
	text := err.Error()
	n := Cause{Text: text[:min(len(text), MaxText)], Rank: self}
	timeout, expired := wire.Expired(err)
	peer, isPeer := Within[*wire.PeerError](err)
	mismatch, mismatched := Within[*wire.MismatchError](err)
	deadlock, locked := Within[*wire.DeadlockError](err)
	switch {
	case expired && errors.As(err, new(*wire.Inner)): // the caller did not end it
	case expired:
		n.Ended, n.Waiting = Ends.Of(timeout.Err), Listed(timeout.Waiting)
	case errors.Is(err, wire.ErrExhausted) && !isPeer:
		n.Down = Downs.Of(wire.ErrExhausted)
	case isPeer:
		if n.Down = Downs.Of(peer.Err); n.Down != "" {
			n.Rank = peer.Rank
		}
	case mismatched:
		n.Rank, n.Field, n.Mine, n.Theirs = mismatch.Rank, mismatch.Field, mismatch.Mine, mismatch.Theirs
		n.Call = mismatch.Call
		n.Mismatched = [2]uint64{mismatch.Seq, mismatch.TheirSeq}
	case locked:
		n.Ranks, n.Sends = Listed(deadlock.Ranks), Listed(deadlock.Sends)
	}
	return n
}

// Within finds an error of type E in err, which is one of this communicator. In what ended a context it is not looked
// for: that may be the error of another communicator, whose ranks are others. Nor is it in what another rank has told
// of its own.
func Within[E error](err error) (found E, ok bool) {
	if _, expired := wire.Expired(err); expired {
		return found, false
	}
	return wire.Own[E](err)
}

// Clean replaces control characters in the texts of n, which a terminal might obey.
func (n *Cause) Clean() {
	for _, text := range []*string{&n.Text, &n.Field, &n.Mine, &n.Theirs, &n.Call} {
		*text = Legible(*text)
	}
}

// Typed returns n as an error of the type that it has on the rank that sent it, one of size. It returns nil if n has
// only a text.
func (n *Cause) Typed(size int) error {
	beyond := func(rank int) bool { return rank < 0 || rank >= size }
	switch {
	case n.Field != "" && !beyond(n.Rank):
		return &wire.MismatchError{Rank: n.Rank, Seq: n.Mismatched[0], TheirSeq: n.Mismatched[1], Field: n.Field,
			Mine: n.Mine, Theirs: n.Theirs, Call: n.Call}
	case len(n.Ranks) > 1 && len(n.Ranks) == len(n.Sends) && len(n.Ranks) <= size && !slices.ContainsFunc(n.Ranks, beyond):
		return &wire.DeadlockError{Ranks: n.Ranks, Sends: n.Sends}
	case Downs.By(n.Down) == wire.ErrExhausted:
		return wire.ErrExhausted
	case Ends.By(n.Ended) != nil && !slices.ContainsFunc(n.Waiting, beyond):
		return &wire.TimeoutError{Waiting: n.Waiting, Err: Ends.By(n.Ended)}
	}
	return nil
}

// RemoteError is an error of another rank, with its text and its type there.
type RemoteError struct {
	Text string
	Is   error // nil: of none
}

func (e *RemoteError) Error() string { return e.Text }

// Unwrap returns the error that it is.
func (e *RemoteError) Unwrap() error { return e.Is }

// GivenUp returns the error that a rank of size has given up because of n.
func (n *Cause) GivenUp(rank, size int) error {
	format, text := "%w: %w", n.Text
	if how, is := strings.CutPrefix(text, wire.ErrAborted.Error()); is { // it is not said twice
		format, text = "%w%w", how
	}
	return &wire.PeerError{Rank: rank, Err: fmt.Errorf(format, wire.ErrAborted, &RemoteError{text, n.Typed(size)})}
}

// RootCauseWait is how long a rank whose link to another one broke waits for the reason.
const RootCauseWait = 100 * time.Millisecond
