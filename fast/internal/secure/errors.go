package secure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Why a handshake fails. All but ErrBroken are refusals: the server has found what is wrong and told the client, or the
// client has found that the server is not the one it wants.
var (
	// ErrNotCollgen: what is at the other end of the connection is something else.
	ErrNotCollgen = errors.New("not a process of collgen")
	// ErrWrongVersion: the two do not speak the same version of the protocol.
	ErrWrongVersion = errors.New("wrong version of the protocol")
	// ErrWrongMode: one has the job's secret and the other a certificate.
	ErrWrongMode = errors.New("wrong kind of credentials")
	// ErrWrongSecret: the two do not have the same secret.
	ErrWrongSecret = errors.New("wrong secret")
	// ErrWrongCertificate: a certificate that the roots do not vouch for.
	ErrWrongCertificate = errors.New("wrong certificate")
	// ErrWrongJob: the two are of different jobs.
	ErrWrongJob = errors.New("wrong job")
	// ErrStaleEpoch: the two are of different starts of one job.
	ErrStaleEpoch = errors.New("stale epoch")
	// ErrWrongSize: the two do not agree on the size of the job.
	ErrWrongSize = errors.New("wrong size of the job")
	// ErrWrongRank: a process is not the one that it says it is, or not the one that was to be reached.
	ErrWrongRank = errors.New("wrong rank")
	// ErrRefused: the server does not want this connection, for the reason that follows.
	ErrRefused = errors.New("refused")
	// ErrBusy: too many handshakes at once; the client may try again.
	ErrBusy = errors.New("too many handshakes at once")
	// ErrBroken: the connection ended or went wrong, or Budget was used up, before the handshake was over. The client
	// may try again.
	ErrBroken = errors.New("broken off during the handshake")
)

// reasons are the errors that a server tells a client. What a reply carries is the place in this list, so new ones come
// last.
var reasons = [...]error{nil, ErrWrongVersion, ErrWrongMode, ErrWrongSecret, ErrWrongCertificate, ErrWrongJob, ErrStaleEpoch,
	ErrWrongSize, ErrWrongRank, wire.ErrFenced, ErrBusy, ErrRefused}

// reasonOf returns the place of err in reasons, and the rest of its text.
func reasonOf(err error) (status int, detail string) {
	if err == nil {
		return 0, ""
	}
	for i, reason := range reasons[1:] {
		if errors.Is(err, reason) {
			return i + 1, strings.TrimPrefix(err.Error(), reason.Error()+": ")
		}
	}
	return len(reasons) - 1, err.Error()
}

// not returns a refusal because of a number that is not the one it has to be.
func not(reason error, got, want int) error {
	return fmt.Errorf("%w: %d, and not %d", reason, got, want)
}

// isReason reports whether err is one of reasons.
func isReason(err error) bool {
	return slices.ContainsFunc(reasons[1:], func(reason error) bool { return errors.Is(err, reason) })
}

// brokenOff returns err as ErrBroken, unless it says more.
func brokenOff(part string, err error) error {
	if err == nil || errors.Is(err, ErrBroken) || errors.Is(err, ErrNotCollgen) || isReason(err) {
		return err
	}
	return fmt.Errorf("%w, at %s: %w", ErrBroken, part, err)
}

// Transient reports whether a handshake that failed with err may succeed at the next try.
func Transient(err error) bool {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return !ended && (errors.Is(err, ErrBroken) || errors.Is(err, ErrBusy))
}
