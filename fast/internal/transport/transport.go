// Package transport defines what carries the messages of a communicator, and composes one transport of two.
package transport

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Transport carries the messages of one rank. Only Waiting, Nudge, Fail and Close may be called while another method
// runs.
type Transport interface {
	// Begin sets the call that the following messages belong to. The description does not change until an Exchange has
	// returned, nor before the next Begin.
	Begin(call wire.Mark)
	// Exchange makes all sends and receives concurrently, and returns when all are complete or one has failed. After
	// that nothing reads or writes their memory. It fails with *wire.PeerError, *wire.MismatchError,
	// *wire.TimeoutError, wire.ErrClosed after Close, or the error given to Fail. It is not called again after it has
	// failed.
	Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error
	// Post puts messages in flight beside those posted before, each behind those of the same peer and direction. Each
	// names its Call, and none is marked AfterSend or Lend. Sends and recvs are the transport's until all are Over, but
	// for Idle, which may change between two calls. From the first Post until all messages are over there is no
	// Exchange.
	Post(sends []wire.Send, recvs []wire.Recv) error
	// Progress moves the posted messages until one more is Over, until has ended, or Nudge is called or was since the
	// last Progress. It does at least what it can without waiting. It fails as Exchange does, which ends all messages.
	Progress(ctx, until context.Context) error
	// Nudge ends a Progress.
	Nudge()
	// Waiting returns the ranks, in ascending order, that the Exchange in progress has waited for during at least 10
	// ms, or that a failed Exchange was waiting for. The result may be slightly out of date.
	Waiting() []int
	// Fail makes the Exchange in progress and every later one return err soon. The first error counts. Other ranks do
	// not learn of it.
	Fail(err error)
	// Close closes the transport: a rank that waits for this one later gets a *wire.PeerError with wire.ErrClosed.
	// Messages already sent still arrive.
	Close() error
}

// Optional interfaces of transports.
type (
	// Lender lends: receives marked Lend may leave their data in place.
	Lender interface {
		// Release ends the loan of what the last Exchange lent. The next Exchange does so, too.
		Release()
	}

	// Mover reports its progress.
	Mover interface {
		// Moved grows when something was sent or received. It may be called at any time.
		Moved() uint64
	}

	// Describer describes its protocol for a message.
	Describer interface {
		// Protocol returns the protocol of messages of that many bytes, in words, or "". Reduces says that the receiver
		// reduces them.
		Protocol(bytes int, reduces bool) string
	}

	// Leaver cannot see by itself that a rank has closed to which it has no connection yet.
	Leaver interface {
		// Left reports that a rank has closed. Linked says that the rank has a connection, which may still arrive with
		// messages.
		Left(rank int, linked bool)
	}

	// Linker reports whether it has, or had, a connection to a rank.
	Linker interface{ Linked(rank int) bool }

	// Lingerer continues after Close until all sent messages have arrived, or cannot arrive.
	Lingerer interface {
		// Wait waits until then.
		Wait()
		// GiveUp says that a rank needs no more messages.
		GiveUp(rank int)
	}

	// Follower logs what it does.
	Follower interface{ Follow(*events.Trail) }

	// Yielder leaves its processor to others early where it is asked to.
	Yielder interface {
		// YieldWhile has a rank that waits sleep at once while f returns true. It comes before any other method. F may
		// be called at any time.
		YieldWhile(f func() bool)
	}

	// Ringed has rings between its ranks. Rings returns how many segments they hold: see events.Member.
	Ringed interface{ Rings() (slots, lines int) }

	// Secluder reads messages in the memory of other processes, unless it is secluded.
	Secluder interface{ Seclude() }

	// Registrar sends from registered memory without copies.
	Registrar interface {
		Know(memory []byte)
		Forget(memory []byte) error
	}
)

// YieldWhile has t sleep at once, where it waits, while f returns true, if t is a Yielder.
func YieldWhile(t Transport, f func() bool) {
	if y, ok := t.(Yielder); ok {
		y.YieldWhile(f)
	}
}

// Moved returns the progress of t, or 0 if t is no Mover.
func Moved(t Transport) uint64 {
	if m, ok := t.(Mover); ok {
		return m.Moved()
	}
	return 0
}

// Protocol returns t's protocol for such messages, or "" if t is no Describer.
func Protocol(t Transport, bytes int, reduces bool) string {
	if t, ok := t.(Describer); ok {
		return t.Protocol(bytes, reduces)
	}
	return ""
}
