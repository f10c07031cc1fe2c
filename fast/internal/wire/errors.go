package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The errors without details. All errors of a call can be told apart with errors.Is and errors.As.
var (
	// ErrClosed: the communicator was closed on this rank.
	ErrClosed = errors.New("communicator is closed")
	// ErrAborted: the communicator was given up, here or by another rank, after an earlier failure.
	ErrAborted = errors.New("communicator was given up")
	// ErrInvalidArgument: refused before anything was sent; the communicator stays healthy.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrConcurrentUse: another goroutine is in a call on the same communicator; this call did nothing.
	ErrConcurrentUse = errors.New("communicator is in use by another call")
	// ErrRevoked: a rank has revoked the communicator for all.
	ErrRevoked = errors.New("communicator was revoked")
	// ErrDied: a rank's process ended, or its link broke, without Close.
	ErrDied = errors.New("rank died")
	// ErrFrozen: a rank's process lives, or its host may, but has not answered for so long that it is taken for dead.
	ErrFrozen = errors.New("rank does not answer")
	// ErrFenced: the other ranks take this one for dead, and go on without it.
	ErrFenced = errors.New("this rank was given up by the others")
	// ErrExhausted: a rank's process has no descriptors or memory left for a connection.
	ErrExhausted = errors.New("no room for a connection")
	// ErrNoQuorum: fewer ranks are left than the caller wants to go on with.
	ErrNoQuorum = errors.New("too few ranks are left")
)

// PeerError says that another rank failed: it died (Err is ErrDied), does not answer (ErrFrozen), closed its
// communicator (ErrClosed), or gave up (ErrAborted).
type PeerError struct {
	Rank int
	Err  error
}

func (e *PeerError) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Err }

// MismatchError says that another rank made a different call at this point: Field is the first field that differs, one
// of those in Fields, and Mine and Theirs are its values in words. If the two calls have different numbers, one of the
// ranks was done with a call that the other one is still in; what differs may be that, too.
type MismatchError struct {
	Rank          int    // the other rank
	Seq, TheirSeq uint64 // numbers of this rank's call and of the other one's
	Field         string
	Mine, Theirs  string
	Call          string // this rank's call with its label, unless that is what differs; "": it has none
}

func (e *MismatchError) Error() string {
	var other string
	if e.TheirSeq != e.Seq {
		other = fmt.Sprintf(" call %d", e.TheirSeq)
	}
	is := "is"
	if e.Field == "lengths" {
		is = "are"
	}
	text := fmt.Sprintf("call %d does not match rank %d's%s: %s %s %s here and %s there", e.Seq, e.Rank, other, e.Field,
		is, e.Mine, e.Theirs)
	if e.Call != "" {
		text += ", in " + e.Call
	}
	switch {
	case e.Field == "algorithm", e.Field == "depth":
		text += "; their options or selection tables (COLL_TUNE) differ"
	case e.Field == "lengths" && e.Mine == e.Theirs:
		text += "; a length or label that is not shown differs"
	case e.Field == Earlier:
		text += " (a hash): one of the calls before was not the same"
	case e.TheirSeq != e.Seq || e.Field == "primitive" && (passesOver(e.Mine, e.Theirs) || passesOver(e.Theirs, e.Mine)):
		text += "; only one of them has made a call, or they disagree about which blocks are empty"
	}
	return text
}

// passesOver reports whether a rank in one call may meet one in the other because it took a block of AllToAllV,
// or of a call of package neighbor, for empty. The calls of two ranks with each other have numbers of their own.
func passesOver(one, other string) bool {
	return (one == "AllToAllV" || strings.HasPrefix(one, "neighbor.")) &&
		slices.Contains([]string{"Send", "Recv", "SendRecv"}, other)
}

// Mirror returns e as the other rank sees it, for which rank is the other one.
func (e *MismatchError) Mirror(rank int) *MismatchError {
	return &MismatchError{Rank: rank, Seq: e.TheirSeq, TheirSeq: e.Seq, Field: e.Field, Mine: e.Theirs, Theirs: e.Mine,
		Call: e.Call}
}

// LengthMismatch returns the error of a message from or to rank whose calls agree but whose lengths in bytes do not.
func LengthMismatch(call *Call, rank int, mine, theirs uint64) *MismatchError {
	return &MismatchError{Rank: rank, Seq: call.Seq, TheirSeq: call.Seq, Field: "message length",
		Mine: fmt.Sprint(mine, " bytes"), Theirs: fmt.Sprint(theirs, " bytes"), Call: call.labelled()}
}

// Counterpart returns the one of a rank's calls that has to agree with call, which another rank made, or nil.
func Counterpart(calls []Call, call *Call) *Call {
	for i := range calls {
		if calls[i].Meets(call) {
			return &calls[i]
		}
	}
	return nil
}

// Explain returns the mismatch of mine with a call of rank that came in its place, or nil. One of the two ranks may
// have gone on from an earlier mismatch, because its own call needed nothing of the other. So among the known calls of
// both, the first counterparts that disagree count, and mine and theirs only if there are none.
func Explain(mine, theirs *Call, rank int, myCalls, theirCalls []Call) *MismatchError {
	if first := FirstMismatch(rank, append(slices.Clip(myCalls), *mine), append(slices.Clip(theirCalls),
		*theirs)); first != nil {
		return first
	}
	return Mismatch(mine, theirs, rank)
}

// FirstMismatch returns the error of the first counterparts, of mine and rank's, that disagree by themselves and not
// because earlier ones do, or nil.
func FirstMismatch(rank int, mine, theirs []Call) (first *MismatchError) {
	for i := range mine {
		for j := range theirs {
			if !mine[i].Meets(&theirs[j]) || first != nil && first.Seq <= mine[i].Seq {
				continue
			}
			if err := Mismatch(&mine[i], &theirs[j], rank); err != nil && err.Field != Earlier {
				first = err
			}
		}
	}
	return first
}

// Mismatch returns the first difference between mine and rank's call, or nil if they agree. In that case it allocates
// nothing, because waiting ranks compare repeatedly.
func Mismatch(mine, theirs *Call, rank int) *MismatchError {
	for _, f := range Fields {
		x, y := f.value(mine), f.value(theirs)
		if x == y {
			continue
		}
		xWords, yWords := f.words(mine), f.words(theirs)
		if xWords == yWords { // the same name for two versions of a thing
			xWords, yWords = fmt.Sprintf("%s (%#x)", xWords, x), fmt.Sprintf("%s (%#x)", yWords, y)
		}
		err := &MismatchError{Rank: rank, Seq: mine.Seq, TheirSeq: theirs.Seq, Field: f.Name, Mine: xWords, Theirs: yWords}
		if mine.Primitive == theirs.Primitive {
			err.Call = mine.labelled()
		}
		return err
	}
	return nil
}
