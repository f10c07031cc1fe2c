// Package control defines the control plane: how the processes of a job, or the goroutines of a process, exchange
// messages outside the data path. Package mesh implements it for processes, and package inproc for goroutines.
package control

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Plane carries control messages, which are few. Messages from one process arrive in order, unless one of the two is
// down. All methods may be called at any time.
type Plane interface {
	// Self returns the number of this process in the job.
	Self() int
	// Send sends a message of at most wire.MaxNote bytes and, on the same host, copies of files. It does not wait for
	// the receiver, and does nothing if that is down.
	Send(to int, t wire.Topic, body []byte, files ...int)
	// Flush waits, at most for atMost, until the messages sent so far will arrive even if this process ends at once.
	Flush(atMost time.Duration)
	// Receive returns the next message of a topic that no handler takes, without its files. It fails with the cause of
	// ctx's end.
	Receive(ctx context.Context, t wire.Topic) (wire.Note, error)
	// ReceiveFiles is like Receive, but returns the message with its files, which the caller has to close.
	ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error)
	// Handle has f called in order with each message of comm and kind, without its files, instead of keeping it for
	// Receive. That includes messages that are waiting. f must not block.
	Handle(comm uint64, kind uint8, f func(wire.Note))
	// Claim reserves comm until Forget. It fails if comm is or was reserved before.
	Claim(comm uint64) error
	// Forget drops the messages and handlers of comm, including those still to come.
	Forget(comm uint64)
	// Down returns why a process is down: wire.ErrDied, wire.ErrFrozen, or wire.ErrFenced if the others have given up
	// this one. It returns nil if the process is up. A process that is down stays down.
	Down(process int) error
	// Watch has f called once for each process that is down or goes down, until stop. f must not block.
	Watch(f func(process int, err error)) (stop func())
	// Fence marks a process as down because of err, and refuses it if it comes back.
	Fence(process int, err error)
	// Close leaves the control plane. For the others, this process is then down.
	Close() error
}
