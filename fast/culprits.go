package fast

import (
	"errors"
	"slices"
)

// Culprits returns the ranks that err blames, in ascending order: those of its PeerErrors, and those of a MismatchError
// or a DeadlockError. A rank that gave up is not blamed if its own error blames ranks. But where that is a
// MismatchError both sides of it are, because another rank cannot know which of them is wrong. It returns none if err
// blames nobody; a TimeoutError, which names ranks that were waited for, blames none of them.
func Culprits(err error) []int {
	blamed := culprits(err, nil)
	slices.Sort(blamed)
	return slices.Compact(blamed)
}

// culprits appends the ranks that err and all that it wraps blame.
func culprits(err error, blamed []int) []int {
	switch e := err.(type) {
	case nil:
		return blamed
	case *PeerError:
		before := len(blamed)
		blamed = culprits(e.Err, blamed)
		if len(blamed) == before || !errors.Is(e.Err, ErrAborted) || errors.As(e.Err, new(*MismatchError)) {
			blamed = append(blamed, e.Rank)
		}
		return blamed
	case *MismatchError:
		return append(blamed, e.Rank)
	case *DeadlockError:
		return append(blamed, e.Ranks...)
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			blamed = culprits(err, blamed)
		}
		return blamed
	}
	return culprits(errors.Unwrap(err), blamed)
}
