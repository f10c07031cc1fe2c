package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
)

// The kinds of errors, as collgen.h numbers them: TestKinds compares.
const (
	kindOK = iota
	kindInvalidArgument
	kindConcurrentUse
	kindMismatch
	kindDeadlock
	kindTimeout
	kindDied
	kindFrozen
	kindExhausted
	kindRevoked
	kindFenced
	kindClosed
	kindAborted
	kindForked
	kindNoQuorum
	kindTicket
	kindOther
	kindTruncated
	kindCanceled

	kindNotOver = -1
)

// kinds are the errors of each kind. Of those that an error is, the first counts.
var kinds = []struct {
	err  error
	kind int
}{
	{fast.ErrForked, kindForked}, {fast.ErrInvalidArgument, kindInvalidArgument},
	{fast.ErrConcurrentUse, kindConcurrentUse}, {fast.ErrNoQuorum, kindNoQuorum}, {fast.ErrTicket, kindTicket},
	{fast.ErrTicketUsed, kindTicket}, {message.ErrTruncated, kindTruncated}, {message.ErrCanceled, kindCanceled},
	{fast.ErrDeadlock, kindDeadlock}, {fast.ErrDied, kindDied}, {fast.ErrFrozen, kindFrozen},
	{fast.ErrExhausted, kindExhausted}, {syscall.ENOMEM, kindExhausted}, {fast.ErrFenced, kindFenced},
	{fast.ErrRevoked, kindRevoked}, {context.DeadlineExceeded, kindTimeout}, {fast.ErrClosed, kindClosed},
	{fast.ErrAborted, kindAborted},
}

// kindOf returns the kind of err. A call on a communicator that was closed or given up before is of that kind, whatever
// the reason was; one that had begun is of the kind of the reason.
func kindOf(err error) int {
	if err == nil {
		return kindOK
	}
	if _, begun := err.(*fast.CallError); !begun {
		for _, x := range kinds[len(kinds)-2:] {
			if errors.Is(err, x.err) {
				return x.kind
			}
		}
	}
	if errors.As(err, new(*fast.MismatchError)) {
		return kindMismatch
	}
	for _, x := range kinds {
		if errors.Is(err, x.err) {
			return x.kind
		}
	}
	return kindOther
}

// fieldOf returns in which field calls differ; "" if that is not the error.
func fieldOf(err error) string {
	var mismatch *fast.MismatchError
	if errors.As(err, &mismatch) {
		return mismatch.Field
	}
	return ""
}

// ranksOf returns the ranks that err blames, or those that were waited for if the time was over. If that was the time
// of another rank, which has waited for this one, it is that rank.
func ranksOf(err error) []int {
	if ranks := fast.Culprits(err); len(ranks) > 0 {
		return ranks
	}
	var timeout *fast.TimeoutError
	if !errors.As(err, &timeout) {
		return nil
	}
	var peer *fast.PeerError
	var call *fast.CallError
	if errors.As(err, &peer) && errors.As(err, &call) && slices.Equal(timeout.Waiting, []int{call.Rank}) {
		return []int{peer.Rank}
	}
	return timeout.Waiting
}

// refuse returns the error of a bad argument.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", fast.ErrInvalidArgument, fmt.Sprintf(format, args...))
}
