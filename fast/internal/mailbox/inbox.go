// Package mailbox is the receiving half of a control plane: it keeps the messages that have come to a process until
// somebody wants them, and which processes are down, and calls those who want to hear of either, in order.
package mailbox

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Inbox is what has come to one process.
type Inbox struct {
	box    mailbox
	events events
	// What only events touch: the processes that are down, and those who want to hear of them.
	fallen   []fall
	watchers []*watcher
}

// fall is that a process went down.
type fall struct {
	process int
	err     error
}

// watcher is somebody who is told of falls.
type watcher struct {
	tell    func(process int, err error)
	stopped atomic.Bool
}

// New returns an empty Inbox. Handlers and watchers are called by a function that is given to start when there is
// something to call them for, and that returns when they have been called.
func New(start func(func())) *Inbox {
	return &Inbox{box: newMailbox(), events: events{start: start}}
}

// Put takes a message that has come. Excess is called if it is dropped because too much from its sender is waiting.
func (b *Inbox) Put(n wire.Note, excess func()) {
	b.events.post(func() {
		handler, ok := b.box.put(n)
		switch {
		case !ok:
			excess()
		case handler != nil:
			handler(bare(n))
		}
	})
}

// Receive returns the next message of that topic, of those that no handler took, without its files. It fails with the
// cause of ctx's end, or with wire.ErrClosed after Close or Forget.
func (b *Inbox) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	n, err := b.box.receive(ctx, t)
	return bare(n), err
}

// ReceiveFiles is Receive with the files that come with the message. They are the caller's to close.
func (b *Inbox) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return b.box.receive(ctx, t)
}

// Handle has f called, in order, with each message of comm and kind, without its files, those that are waiting
// included, instead of keeping it for Receive. All handlers and watchers are called one at a time. F must not block.
func (b *Inbox) Handle(comm uint64, kind uint8, f func(wire.Note)) {
	b.events.post(func() {
		for _, n := range b.box.handle(lane{comm, kind}, f) {
			f(bare(n))
		}
	})
}

// bare returns n without its files, which nobody has asked for: a peer that sends some all the same costs nothing.
func bare(n wire.Note) wire.Note {
	n.CloseFiles()
	n.Files = nil
	return n
}

// Claim makes comm the caller's until Forget. It fails if comm is somebody's already, or was: then what is sent for one
// would come to the other, or to nobody. After Close it fails with wire.ErrClosed.
func (b *Inbox) Claim(comm uint64) error { return b.box.claim(comm) }

// Forget drops comm's messages and handlers, those to come included.
func (b *Inbox) Forget(comm uint64) { b.box.forget(comm) }

// Forgotten reports whether comm was one of the last ones that were forgotten.
func (b *Inbox) Forgotten(comm uint64) bool { return b.box.forgotten(comm) }

// Fall takes note that a process is down, after all messages that came from it. Each process falls once.
func (b *Inbox) Fall(process int, err error) {
	b.events.post(func() { b.tell(fall{process, err}) })
}

// Watch has f called for each process that has fallen or falls, once, until stop. F must not block.
func (b *Inbox) Watch(f func(process int, err error)) (stop func()) {
	w := &watcher{tell: f}
	b.events.post(func() {
		for _, x := range b.fallen {
			w.hear(x)
		}
		b.watchers = append(b.watchers, w)
	})
	return func() {
		w.stopped.Store(true)
		b.events.post(func() {
			b.watchers = slices.DeleteFunc(b.watchers, func(other *watcher) bool { return other == w })
		})
	}
}

// Close drops everything. Who waits gets wire.ErrClosed.
func (b *Inbox) Close() { b.box.close() }

func (w *watcher) hear(x fall) {
	if !w.stopped.Load() {
		w.tell(x.process, x.err)
	}
}

func (b *Inbox) tell(x fall) {
	b.fallen = append(b.fallen, x)
	for _, w := range b.watchers {
		w.hear(x)
	}
}
