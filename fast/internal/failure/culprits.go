package failure

import (
	"errors"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Culprits returns the ranks that err blames, in ascending order: see fast.Culprits.
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
	case *wire.PeerError:
		before := len(blamed)
		blamed = culprits(e.Err, blamed)
		var timeout *wire.TimeoutError
		late := errors.As(e.Err, &timeout) && timeout.Timeout() // it waited for others
		if len(blamed) == before && !late || errors.As(e.Err, new(*wire.MismatchError)) {
			blamed = append(blamed, e.Rank)
		}
		return blamed
	case *wire.MismatchError:
		return append(blamed, e.Rank)
	case *wire.DeadlockError:
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
