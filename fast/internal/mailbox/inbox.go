// Package mailbox is the receiving half of a control plane. It keeps messages until they are received, and which
// processes are down, and calls handlers and watchers of both in order.
package mailbox

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Inbox has the messages and failures that were reported to one process.
type Inbox struct {
	box    mailbox
	events events
	// Only functions in events use these: the processes that are down, and the watchers.
	fallen   []fall
	watchers []*watcher
}

// fall says that a process went down.
type fall struct {
	process int
	err     error
}

// watcher is a function to call for each fall.
type watcher struct {
	tell    func(process int, err error)
	stopped atomic.Bool
}

// New returns an empty Inbox. When there are handlers or watchers to call, it passes start a function that calls them
// and returns.
func New(start func(func())) *Inbox {
	b := &Inbox{box: newMailbox(), events: events{start: start}}
	b.events.short.L = &b.events.mu
	return b
}

// Put adds a message. If it has to be dropped because too many of its sender's are waiting, excess is called.
func (b *Inbox) Put(n wire.Note, excess func()) { b.events.post(b.adding(n, excess)) }

// Take is Put, but may call handlers and watchers before it returns, so its caller must hold nothing that they need,
// and is none of them. It waits while too many calls are due, so that a fast sender cannot fill this process's memory.
func (b *Inbox) Take(n wire.Note, excess func()) {
	if b.events.add(b.adding(n, excess)) {
		b.events.runSome()
	} else {
		b.events.wait()
	}
}

// adding returns a function that does what Put does.
func (b *Inbox) adding(n wire.Note, excess func()) func() {
	return func() {
		handler, ok := b.box.put(n)
		switch {
		case !ok:
			excess()
		case handler != nil:
			handler(withoutFiles(n))
		}
	}
}

// Receive returns the next message of a topic that no handler takes, without its files. It fails with the cause of
// ctx's end, or with wire.ErrClosed after Close or Forget.
func (b *Inbox) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	n, err := b.box.receive(ctx, t)
	return withoutFiles(n), err
}

// ReceiveFiles is like Receive, but returns the message with its files, which the caller has to close.
func (b *Inbox) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return b.box.receive(ctx, t)
}

// Handle has f called in order with each message of comm and kind, without its files, instead of keeping it for
// Receive. That includes messages that are waiting. All handlers and watchers are called one at a time. F must not
// block.
func (b *Inbox) Handle(comm uint64, kind uint8, f func(wire.Note)) {
	b.events.post(func() {
		for _, n := range b.box.handle(lane{comm, kind}, f) {
			f(withoutFiles(n))
		}
	})
}

// withoutFiles closes the files of n, so that files which nobody asked for cost nothing.
func withoutFiles(n wire.Note) wire.Note {
	n.CloseFiles()
	n.Files = nil
	return n
}

// Claim reserves comm until Forget. It fails if comm is or was reserved before, because messages for one use would
// reach the other. After Close it fails with wire.ErrClosed.
func (b *Inbox) Claim(comm uint64) error { return b.box.claim(comm) }

// Forget drops the messages and handlers of comm, including those still to come.
func (b *Inbox) Forget(comm uint64) { b.box.forget(comm) }

// Forgotten reports whether comm is among the last that were forgotten.
func (b *Inbox) Forgotten(comm uint64) bool { return b.box.forgotten(comm) }

// Fall reports a process as down, after all messages that came from it. It is called once for each process.
func (b *Inbox) Fall(process int, err error) {
	b.events.post(func() { b.notifyAll(fall{process, err}) })
}

// Watch has f called once for each process that is down or goes down, until stop. F must not block.
func (b *Inbox) Watch(f func(process int, err error)) (stop func()) {
	w := &watcher{tell: f}
	b.events.post(func() {
		for _, x := range b.fallen {
			w.notify(x)
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

// Close drops everything. Pending calls of Receive fail with wire.ErrClosed.
func (b *Inbox) Close() { b.box.close() }

func (w *watcher) notify(x fall) {
	if !w.stopped.Load() {
		w.tell(x.process, x.err)
	}
}

func (b *Inbox) notifyAll(x fall) {
	b.fallen = append(b.fallen, x)
	for _, w := range b.watchers {
		w.notify(x)
	}
}

// events calls functions one at a time, in the order in which they were posted. So messages of a process come before
// the news that it is down, and handlers need no locks.
type events struct {
	start   func(func()) // calls a function in some goroutine
	mu      sync.Mutex
	queue   []func()
	running bool
	short   sync.Cond // signalled when the queue has become short again
}

// post queues f to be called.
func (e *events) post(f func()) {
	if e.add(f) {
		e.start(e.run)
	}
}

// add queues f, and reports whether the caller has to see to it that the queue is run.
func (e *events) add(f func()) (idle bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, f)
	idle = !e.running
	e.running = true
	return idle
}

// wait waits until the queue is not long.
func (e *events) wait() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) >= long {
		e.short.Wait()
	}
}

// long is how many functions are too many to wait: their messages may weigh as much as those that wait for a receiver.
const long = maxLoad / wire.MaxNote

// runSome is run, but leaves what is more than a few functions to another goroutine.
func (e *events) runSome() {
	for range few {
		f := e.next()
		if f == nil {
			return
		}
		f()
	}
	e.start(e.run)
}

// few is how many functions a goroutine calls that has other things to do.
const few = 64

// run calls posted functions until there are no more.
func (e *events) run() {
	for f := e.next(); f != nil; f = e.next() {
		f()
	}
}

// next returns the next function, or nil after the last one, when run has to end.
func (e *events) next() func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.running, e.queue = false, nil
		return nil
	}
	f := e.queue[0]
	e.queue[0] = nil
	e.queue = e.queue[1:]
	if len(e.queue) == long/2 {
		e.short.Broadcast()
	}
	return f
}
