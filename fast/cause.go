package fast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// cause is what a rank tells the others of a failure, so that these make an error of the same type of it.
type cause struct {
	Text string // in words
	// The rank at fault, if that is another one: it is down with Down, one of downs, or its call does not match in Field.
	Rank                int
	Down                string `json:",omitempty"`
	Field, Mine, Theirs string
	Mismatched          [2]uint64 // the numbers of the two calls, the teller's and the other one's
	Ended               string    `json:",omitempty"` // one of ends: the teller's context has
	Waiting             []int     `json:",omitempty"` // for which ranks it was waiting then
	Ranks               []int     `json:",omitempty"` // that wait for each other
	Sends               []bool    `json:",omitempty"` // as of a DeadlockError
	Over                bool      `json:",omitempty"` // of a founding: the communicator has ended that the new one is made from
}

// downs are the ways in which a rank can be down, and ends those in which a context can end, under the names that causes give them.
var (
	downs = map[string]error{"died": ErrDied, "frozen": ErrFrozen, "closed": ErrClosed}
	ends  = map[string]error{"deadline": context.DeadlineExceeded, "canceled": context.Canceled}
)

// nameIn is the name of what err is in names; "": it is none of them.
func nameIn(names map[string]error, err error) string {
	for name, is := range names {
		if errors.Is(err, is) {
			return name
		}
	}
	return ""
}

// causeOf is the cause of a failure on rank self.
func causeOf(self int, err error) cause {
	text := err.Error()
	n := cause{Text: text[:min(len(text), maxText)], Rank: self}
	if timeout, ok := wire.Expired(err); ok {
		if !errors.As(err, new(*wire.Inner)) { // which the caller did not end
			n.Ended, n.Waiting = nameIn(ends, timeout.Err), timeout.Waiting
		}
		return n
	}
	peer, isDown := within[*PeerError](err)
	if isDown {
		n.Down = nameIn(downs, peer.Err)
	}
	if n.Down != "" {
		n.Rank = peer.Rank
	} else if mismatch, ok := within[*MismatchError](err); ok && !isDown {
		n.Rank, n.Field, n.Mine, n.Theirs = mismatch.Rank, mismatch.Field, mismatch.Mine, mismatch.Theirs
		n.Mismatched = [2]uint64{mismatch.Seq, mismatch.TheirSeq}
	} else if deadlock, ok := within[*DeadlockError](err); ok && !isDown {
		n.Ranks, n.Sends = deadlock.Ranks, deadlock.Sends
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
	case ends[n.Ended] != nil && !slices.ContainsFunc(n.Waiting, beyond):
		return &TimeoutError{Waiting: n.Waiting, Err: ends[n.Ended]}
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

// words is what a founding's ranks tell each other: nothing of no error. Ranks are told by their processes.
func (f *founding) words(err error) []byte {
	if err == nil {
		return nil
	}
	n := causeOf(f.own(), err)
	var peer *PeerError
	var late *TimeoutError
	var inner *wire.Inner
	switch {
	case !errors.As(err, &inner) && errors.As(err, &peer) && errors.As(peer.Err, &late): // of the rank that has told this one
		n.Ended, n.Waiting, n.Rank = nameIn(ends, late.Err), late.Waiting, f.processOf(peer.Rank)
	case inner != nil, n.Down == "" && n.Ended == "": // of the communicator that this one is made from, whose ranks are others
		n.Down, n.Rank = nameIn(downs, err), -1
	default:
		n.Rank = f.processOf(n.Rank)
	}
	n.Over = inner != nil || errors.Is(err, errOver)
	n.Waiting = f.each(n.Waiting, f.processOf)
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

// told is what the words of a process mean.
func (f *founding) told(process int, body []byte) error {
	from := f.rankOf(process)
	n := cause{Rank: -1}
	if json.Unmarshal(body, &n) != nil {
		n = cause{Text: string(body), Rank: -1}
	}
	n.legible()
	culprit, down := f.rankOf(n.Rank), downs[n.Down]
	n.Waiting = f.each(n.Waiting, f.rankOf)
	switch {
	case down != nil && culprit >= 0 && culprit != f.own() && culprit != from:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, &PeerError{Rank: culprit, Err: down}})
	case down != nil && n.Rank < 0:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, down})
	case n.Over:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, errOver})
	case ends[n.Ended] != nil && !slices.Contains(n.Waiting, -1):
		if culprit < 0 || culprit == f.own() {
			culprit = from
		}
		return &PeerError{Rank: culprit, Err: &remoteError{n.Text, &TimeoutError{Waiting: n.Waiting, Err: ends[n.Ended]}}}
	}
	return fmt.Errorf("rank %d: %w", from, &remoteError{text: n.Text})
}

// errOver is the type of what another rank says because the communicator has ended that a new one is made from.
var errOver = errors.New("the communicator has ended from which another one is made")

// each is of every number.
func (f *founding) each(numbers []int, of func(int) int) (all []int) {
	for _, n := range numbers {
		all = append(all, of(n))
	}
	return all
}

// rankOf is the rank of a process in the new communicator, or -1.
func (f *founding) rankOf(process int) int {
	at := slices.Index(f.members, process)
	if at >= 0 && f.ranks != nil {
		return f.ranks[at]
	}
	return at
}

// processOf is the process of a rank of the new communicator, or -1.
func (f *founding) processOf(rank int) int {
	if f.ranks != nil {
		rank = slices.Index(f.ranks, rank)
	}
	if rank < 0 || rank >= len(f.members) {
		return -1
	}
	return f.members[rank]
}

// own is this process's rank in the new communicator.
func (f *founding) own() int { return f.rankOf(f.plane.Self()) }
