package wire

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// TimeoutError says that a call's context ended first, and for which ranks it was waiting. It is the context's error,
// context.DeadlineExceeded or context.Canceled, and its cause, if it was given another one.
type TimeoutError struct {
	Waiting []int // ranks, in ascending order
	Err     error
}

func (e *TimeoutError) Error() string {
	if len(e.Waiting) == 0 {
		return fmt.Sprintf("before anything was sent: %v", e.Err)
	}
	return fmt.Sprintf("waiting for ranks %v: %v", Listed(e.Waiting), e.Err)
}

// Unwrap returns the context's error.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Timeout reports whether the deadline passed, as net.Error does.
func (e *TimeoutError) Timeout() bool { return errors.Is(e.Err, context.DeadlineExceeded) }

// Expired returns the TimeoutError in err, if it is this rank's own. The timeout of another rank is in a PeerError.
func Expired(err error) (*TimeoutError, bool) { return Own[*TimeoutError](err) }

// Own returns the first error of type E in err outside of any PeerError, which contains errors of another rank.
func Own[E error](err error) (found E, ok bool) {
	if found, ok = err.(E); ok {
		return found, true
	}
	switch e := err.(type) {
	case *PeerError:
	case interface{ Unwrap() error }:
		return Own[E](e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if found, ok = Own[E](err); ok {
				return found, true
			}
		}
	}
	return found, false
}

// Timeout returns the error of a wait for ranks that ended because ctx did.
func Timeout(ctx context.Context, waiting []int) *TimeoutError {
	return &TimeoutError{Waiting: waiting, Err: Ended(ctx)}
}

// Ended returns why ctx has ended: its error, and its cause if that differs.
func Ended(ctx context.Context) error { return EndedBy(ctx, context.Cause(ctx)) }

// EndedBy returns err, which the end of ctx has caused, wrapped in the error of ctx too. It does not wrap err if this
// library has ended ctx itself, with an Inner or because an outer context ended: then the caller did not cancel it.
func EndedBy(ctx context.Context, err error) error {
	var inner *Inner
	end := ctx.Err()
	if end == nil || errors.Is(err, end) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &inner) {
		return err
	}
	return fmt.Errorf("%w: %w", end, err)
}

// Inner is the cause of a context that this library ends by itself.
type Inner struct{ Err error }

func (e *Inner) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Inner) Unwrap() error { return e.Err }

// AtMost returns most, or the time that is left until the deadline of until if that is less. Until may be nil.
func AtMost(until context.Context, most time.Duration) time.Duration {
	if until == nil {
		return most
	}
	if deadline, ok := until.Deadline(); ok {
		return max(0, min(most, time.Until(deadline)))
	}
	return most
}
