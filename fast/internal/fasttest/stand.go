package fasttest

import (
	"bytes"
	"context"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Idle is a transport in which everything has happened already.
type Idle struct{}

// Begin does nothing.
func (Idle) Begin(wire.Mark) {}

// Exchange returns at once.
func (Idle) Exchange(context.Context, []wire.Send, []wire.Recv) error { return nil }

// Post has all messages be over.
func (Idle) Post(sends []wire.Send, recvs []wire.Recv) error {
	for i := range sends {
		sends[i].Over = true
	}
	for i := range recvs {
		recvs[i].Over = true
	}
	return nil
}

// Progress returns at once.
func (Idle) Progress(_, _ context.Context) error { return nil }

// Nudge does nothing.
func (Idle) Nudge() {}

// Waiting returns no rank.
func (Idle) Waiting() []int { return nil }

// Fail does nothing.
func (Idle) Fail(error) {}

// Close returns nil.
func (Idle) Close() error { return nil }

// LockedBuffer is a log that may be read while it is written.
type LockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write adds p.
func (b *LockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

// String returns what was written.
func (b *LockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
