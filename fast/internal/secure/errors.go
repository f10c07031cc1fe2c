package secure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Errors of handshakes. All except ErrBroken are refusals: either the server found a fault and told the client, or the
// client found that it had reached the wrong server.
var (
	// ErrNotCollgen: the other end of the connection is a different program.
	ErrNotCollgen = errors.New("not a process of collgen")
	// ErrWrongVersion: the two sides speak different versions of the protocol.
	ErrWrongVersion = errors.New("wrong version of the protocol")
	// ErrWrongMode: one side has the job's secret and the other a certificate.
	ErrWrongMode = errors.New("wrong kind of credentials")
	// ErrWrongSecret: the two sides have different secrets.
	ErrWrongSecret = errors.New("wrong secret")
	// ErrWrongCertificate: the roots do not vouch for a certificate.
	ErrWrongCertificate = errors.New("wrong certificate")
	// ErrWrongJob: the two sides belong to different jobs.
	ErrWrongJob = errors.New("wrong job")
	// ErrStaleEpoch: the two sides belong to different starts of one job.
	ErrStaleEpoch = errors.New("stale epoch")
	// ErrWrongSize: the two sides disagree about the size of the job.
	ErrWrongSize = errors.New("wrong size of the job")
	// ErrWrongRank: a process is not the one that it claims to be, or not the one that the client wanted to reach.
	ErrWrongRank = errors.New("wrong rank")
	// ErrRefused: the server does not want this connection, for the reason that follows.
	ErrRefused = errors.New("refused")
	// ErrBusy: too many handshakes at once; the client may try again.
	ErrBusy = errors.New("too many handshakes at once")
	// ErrBroken: the connection failed, or Budget ran out, before the handshake was complete. The client may try again.
	ErrBroken = errors.New("connection broken during the handshake")
)

// reasons are the errors that a server sends to a client. A reply carries an index into this list, so new ones are
// added at the end.
var reasons = [...]error{nil, ErrWrongVersion, ErrWrongMode, ErrWrongSecret, ErrWrongCertificate, ErrWrongJob,
	ErrStaleEpoch,
	ErrWrongSize, ErrWrongRank, wire.ErrFenced, ErrBusy, ErrRefused}

// encodeReason returns the index of err in reasons, and the rest of its text.
func encodeReason(err error) (status int, detail string) {
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

// isReason reports whether err is one of reasons.
func isReason(err error) bool {
	return slices.ContainsFunc(reasons[1:], func(reason error) bool { return errors.Is(err, reason) })
}

// mismatch returns a refusal because a number differs from the one expected.
func mismatch[N int | uint16 | uint32](reason error, got, want N) error {
	return fmt.Errorf("%w: %d, want %d", reason, got, want)
}

// asBroken wraps err, which occurred in the named part of a handshake, in ErrBroken, unless it is more specific
// already.
func asBroken(part string, err error) error {
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

// failureCounts counts failed handshakes by reason and keeps the last one of each, so that thousands of strays do not
// hide the one process with a wrong secret.
type failureCounts struct {
	mutex   sync.Mutex
	entries [len(byPriority)]struct {
		count int
		last  string
	}
}

// byPriority are the reasons of failures, the most informative first.
var byPriority = [...]error{wire.ErrExhausted, ErrWrongSecret, ErrWrongVersion, ErrWrongMode, ErrWrongCertificate,
	ErrWrongJob, ErrStaleEpoch, ErrWrongSize, ErrWrongRank, wire.ErrFenced, ErrRefused, ErrBroken, ErrNotCollgen, ErrBusy}

// expected are the failures that anybody can cause at any time, such as port scanners and clients that try again.
var expected = []error{wire.ErrFenced, ErrRefused, ErrBroken, ErrNotCollgen, ErrBusy}

// add counts a failure. It returns the reason of err, and whether this is the first failure for that reason.
func (f *failureCounts) add(err error, from net.Addr) (reason error, first bool) {
	i := slices.IndexFunc(byPriority[:], func(reason error) bool { return errors.Is(err, reason) })
	if i < 0 {
		i = slices.Index(byPriority[:], ErrBroken)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.entries[i].count++
	f.entries[i].last = fmt.Sprintf("%v: %v", from, err)
	return byPriority[i], f.entries[i].count == 1
}

// list returns a line for each reason that has occurred.
func (f *failureCounts) list() (lines []string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, x := range f.entries {
		switch {
		case x.count == 1:
			lines = append(lines, x.last)
		case x.count > 1:
			lines = append(lines, fmt.Sprintf("%s (the last of %d)", x.last, x.count))
		}
	}
	return lines
}
