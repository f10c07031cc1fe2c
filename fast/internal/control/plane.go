// Package control is the control plane: how the processes of a job, or the goroutines of a process, talk beside the
// data path. Package mesh has it for processes, and package inproc for goroutines.
package control

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Plane passes control messages, which are few, and come in order from each process unless one of the two is down. All
// methods may be called at any time.
type Plane interface {
	// Self is the number of this process in the job.
	Self() int
	// Send sends a message of at most wire.MaxNote bytes and, on the same host, copies of files. It does not wait for
	// the receiver; to a process that is down it does nothing.
	Send(to int, t wire.Topic, body []byte, files ...int)
	// Flush waits until what was sent comes even if this process ends at once, but not longer than atMost.
	Flush(atMost time.Duration)
	// Receive is the next message of that topic, of those that no handler took, without its files. It fails with the
	// cause of ctx's end.
	Receive(ctx context.Context, t wire.Topic) (wire.Note, error)
	// ReceiveFiles is Receive with the files that come with the message, which are the caller's to close.
	ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error)
	// Handle has f called, in order, with each message of comm and kind, without its files, those that are waiting
	// included, instead of keeping it for Receive. f must not block.
	Handle(comm uint64, kind uint8, f func(wire.Note))
	// Claim makes comm the caller's until Forget. It fails if comm is somebody's already, or was.
	Claim(comm uint64) error
	// Forget drops comm's messages and handlers, those to come included.
	Forget(comm uint64)
	// Down is why a process is taken for dead, wire.ErrDied, wire.ErrFrozen or wire.ErrFenced (this one is), or else
	// nil. Who is down stays down.
	Down(process int) error
	// Watch has f called for each process that is down or goes down, once, until stop. f must not block.
	Watch(f func(process int, err error)) (stop func())
	// Fence takes a process for dead, because of err, and sends it away should it come back.
	Fence(process int, err error)
	// Close ends this process's part; for the others it is then down.
	Close() error
}
