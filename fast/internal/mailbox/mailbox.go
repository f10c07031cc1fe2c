package mailbox

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// mailbox keeps the messages that have come until somebody wants them.
type mailbox struct {
	mu       sync.Mutex
	handlers map[lane]func(wire.Note)
	waiting  map[lane][]wire.Note
	changed  map[lane]chan struct{} // closed when a message comes to a lane for which somebody waits
	claimed  map[uint64]bool
	dropped  forgotten
	load     map[int]int // what waits here, by the process that sent it
	closed   bool
}

// lane is what one handler is for.
type lane struct {
	comm uint64
	kind uint8
}

// maxLoad is how much of one process's may wait, as weigh counts it.
const maxLoad = 16 << 20

// weigh returns the weight of a message: its bytes, and something for what else it holds.
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

// put takes a message: it returns the handler that it is for, or keeps it. It is false if too much of the sender's is
// waiting already.
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

// take returns the next message of topic t or, if there is none, a channel that is closed when there may be one.
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

// release takes note that n, of lane l, waits no more.
func (b *mailbox) release(l lane, n wire.Note) {
	if b.load[n.From] -= weigh(n); b.load[n.From] == 0 {
		delete(b.load, n.From)
	}
	if len(b.waiting[l]) == 0 {
		delete(b.waiting, l)
	}
}

// handle makes f the handler of l, and returns what is waiting for it.
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

// claim makes a communicator its caller's, unless it is or was somebody's.
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

// forget drops a communicator's messages and handlers, those to come included.
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

// close drops everything. Who waits gets wire.ErrClosed.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.discard(func(lane) bool { return true })
}

// discard drops the messages and handlers of the lanes that are unwanted. Who waits there gets wire.ErrClosed.
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
