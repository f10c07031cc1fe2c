package mailbox

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// mailbox keeps messages until they are received.
type mailbox struct {
	mu       sync.Mutex
	handlers map[lane]func(wire.Note)
	waiting  map[lane][]wire.Note
	changed  map[lane]chan struct{} // closed when a message comes to a lane in which a receiver waits
	claimed  map[uint64]bool
	dropped  forgotten
	load     map[int]int // the weight of waiting messages, by sender
	closed   bool
}

// lane identifies the messages of one handler.
type lane struct {
	comm uint64
	kind uint8
}

// maxLoad limits the total weight of one sender's waiting messages.
const maxLoad = 16 << 20

// weigh returns the weight of a message: its length, and a price for overhead and files.
func weigh(n wire.Note) int { return len(n.Body) + 256 + len(n.Files)<<16 }

func newMailbox() mailbox {
	return mailbox{
		handlers: make(map[lane]func(wire.Note)),
		waiting:  make(map[lane][]wire.Note),
		changed:  make(map[lane]chan struct{}),
		claimed:  make(map[uint64]bool),
		load:     make(map[int]int),
	}
}

// put returns the handler of a message, or keeps the message if there is none. It reports false if too many of the
// sender's messages are waiting.
func (b *mailbox) put(n wire.Note) (handler func(wire.Note), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := lane{n.Topic.Comm, n.Topic.Kind}
	switch {
	case b.closed || b.dropped.has(n.Topic.Comm):
		n.CloseFiles()
		return nil, true
	case b.handlers[l] != nil:
		return b.handlers[l], true
	case b.load[n.From]+weigh(n) > maxLoad:
		n.CloseFiles()
		return nil, false
	}
	b.load[n.From] += weigh(n)
	b.waiting[l] = append(b.waiting[l], n)
	if c := b.changed[l]; c != nil {
		close(c)
		delete(b.changed, l)
	}
	return nil, true
}

// receive returns the next message of topic t.
func (b *mailbox) receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	for {
		n, changed, err := b.take(t)
		if changed == nil {
			return n, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return wire.Note{}, context.Cause(ctx)
		}
	}
}

// take returns the next message of topic t, or a channel that is closed when there may be one.
func (b *mailbox) take(t wire.Topic) (wire.Note, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.dropped.has(t.Comm) {
		return wire.Note{}, nil, wire.ErrClosed
	}
	l := lane{t.Comm, t.Kind}
	if i := slices.IndexFunc(b.waiting[l], func(n wire.Note) bool { return n.Topic == t }); i >= 0 {
		n := b.waiting[l][i]
		b.waiting[l] = slices.Delete(b.waiting[l], i, i+1)
		b.release(l, n)
		return n, nil, nil
	}
	if b.changed[l] == nil {
		b.changed[l] = make(chan struct{})
	}
	return wire.Note{}, b.changed[l], nil
}

// release updates the load after n has left lane l.
func (b *mailbox) release(l lane, n wire.Note) {
	if b.load[n.From] -= weigh(n); b.load[n.From] == 0 {
		delete(b.load, n.From)
	}
	if len(b.waiting[l]) == 0 {
		delete(b.waiting, l)
	}
}

// handle makes f the handler of l, and returns the messages that wait for it.
func (b *mailbox) handle(l lane, f func(wire.Note)) []wire.Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.dropped.has(l.comm) {
		return nil
	}
	b.handlers[l] = f
	return b.drain(l)
}

// drain empties a lane.
func (b *mailbox) drain(l lane) []wire.Note {
	notes := b.waiting[l]
	b.waiting[l] = nil
	for _, n := range notes {
		b.release(l, n)
	}
	return notes
}

// claim reserves a communicator, unless it is or was reserved.
func (b *mailbox) claim(comm uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return wire.ErrClosed
	case b.claimed[comm]:
		return fmt.Errorf("internal error: the number %#x is in use", comm)
	case b.dropped.has(comm):
		return fmt.Errorf("internal error: the number %#x was used before", comm)
	}
	b.claimed[comm] = true
	return nil
}

// forget drops the messages and handlers of a communicator, including those still to come.
func (b *mailbox) forget(comm uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.claimed, comm)
	b.dropped.add(comm)
	b.discard(func(l lane) bool { return l.comm == comm })
}

func (b *mailbox) forgotten(comm uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped.has(comm)
}

// close drops everything. Waiting receivers get wire.ErrClosed.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.discard(func(lane) bool { return true })
}

// discard drops the messages and handlers of unwanted lanes. Receivers that wait there get wire.ErrClosed.
func (b *mailbox) discard(unwanted func(lane) bool) {
	for l := range b.waiting {
		if unwanted(l) {
			for _, n := range b.drain(l) {
				n.CloseFiles()
			}
		}
	}
	for l := range b.handlers {
		if unwanted(l) {
			delete(b.handlers, l)
		}
	}
	for l, c := range b.changed {
		if unwanted(l) {
			close(c)
			delete(b.changed, l)
		}
	}
}

// forgotten keeps the last maxForgotten communicators whose messages are dropped. No message is so late that as many
// communicators were made and closed meanwhile.
type forgotten struct {
	set   map[uint64]bool
	order []uint64
	next  int // the index in order of the oldest, when order is full
}

const maxForgotten = 1 << 14

func (f *forgotten) has(comm uint64) bool { return f.set[comm] }

func (f *forgotten) add(comm uint64) {
	switch {
	case f.set[comm]:
		return
	case f.set == nil:
		f.set = make(map[uint64]bool)
	}
	f.set[comm] = true
	if len(f.order) < maxForgotten {
		f.order = append(f.order, comm)
		return
	}
	delete(f.set, f.order[f.next])
	f.order[f.next] = comm
	f.next = (f.next + 1) % maxForgotten
}
