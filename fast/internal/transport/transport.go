// Package transport says what carries the messages of a communicator, and makes one transport of two.
package transport

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Transport carries the messages of one rank. Only Waiting, Fail and Close may be called while another method
// runs.
type Transport interface {
	// Begin says which call the following messages belong to. The description stays as it is until an Exchange has
	// returned, and until the next Begin begins.
	Begin(call wire.Mark)
	// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed.
	// Then nothing reads or writes their memory any more. It fails with *wire.PeerError, *wire.MismatchError,
	// *wire.TimeoutError, wire.ErrClosed after Close, or the error that Fail was given. It is not called again after it
	// failed.
	Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error
	// Waiting are the ranks, in ascending order, that the Exchange in progress has been waiting for for a while, at
	// least 10 ms; it may be a little late. After an Exchange has failed it is those that it was waiting for then.
	Waiting() []int
	// Fail has the Exchange in progress, and every later one, return err soon. The first error counts. Other ranks do
	// not hear of it.
	Fail(err error)
	// Close leaves: a rank that waits for this one later gets *wire.PeerError with wire.ErrClosed. What was sent still
	// comes.
	Close() error
}

// What follows are things that some transports can do besides.
type (
	// Lender lends: receives marked so may leave their data where they lie.
	Lender interface {
		// Release ends the loan of what the last Exchange lent. The next Exchange does so, too.
		Release()
	}

	// Mover tells of its progress.
	Mover interface {
		// Moved grows when something was sent or received. It may be called at any time.
		Moved() uint64
	}

	// Describer tells its protocol for a message.
	Describer interface {
		// Protocol returns the protocol of messages of so many bytes, in words, or "". Reduces: they are reduced into
		// memory.
		Protocol(bytes int, reduces bool) string
	}

	// Leaver does not see by itself that a rank has closed with which it has no connection yet.
	Leaver interface {
		// Left tells it so. Linked: that rank has a connection, which may be on its way with what it has sent.
		Left(rank int, linked bool)
	}

	// Linker tells whether it has, or had, a connection to a rank.
	Linker interface{ Linked(rank int) bool }

	// Lingerer goes on after Close, until what it has sent has arrived, or never will.
	Lingerer interface {
		// Wait waits for that.
		Wait()
		// GiveUp says that a rank needs nothing any more.
		GiveUp(rank int)
	}

	// Follower writes down what it does.
	Follower interface{ Follow(*events.Trail) }

	// Ringed has rings between its ranks, which hold so many segments: see events.Member.
	Ringed interface{ Rings() (slots, lines int) }

	// Secluder reads messages in other processes, unless it is secluded.
	Secluder interface{ Seclude() }

	// Registrar sends memory that lasts without copies.
	Registrar interface {
		Know(memory []byte)
		Forget(memory []byte) error
	}
)

// Moved returns how far t has come, 0 if it does not tell.
func Moved(t Transport) uint64 {
	if m, ok := t.(Mover); ok {
		return m.Moved()
	}
	return 0
}

// Protocol returns what t says of such messages, or "".
func Protocol(t Transport, bytes int, reduces bool) string {
	if t, ok := t.(Describer); ok {
		return t.Protocol(bytes, reduces)
	}
	return ""
}
