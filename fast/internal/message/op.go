package message

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Status says which message a call has received, or found.
type Status struct {
	Source, Tag int
	Count       int // elements
}

// Request is what a call asks for.
type Request struct {
	Name  string // of the call
	Label string
	Peer  int // the other rank, or Any
	Tag   int // or Any
	Type  spec.Type
	Buf   []byte // what is sent, or filled
}

// Op is a call in progress, or one that is over.
type Op struct {
	e      *Engine
	what   role
	name   string
	label  string
	peer   int
	tag    int
	typ    spec.Type
	buf    []byte
	since  time.Time
	order  uint64        // of the operations of this rank, which one it is
	toRead chan struct{} // a long receive is told that its message is to be read where it lies
	seal   atomic.Uint64 // of a send: see place

	// Guarded by the engine's lock.
	moved    int       // bytes of buf that were sent, or filled
	id       uint64    // of a message that was announced
	accepted bool      // it was, by the receiver
	message  *envelope // that the receive has matched
	over     bool
	status   Status
	err      error
	done     chan struct{} // closed when the last two count
}

// role is what a call does.
type role uint8

const (
	sends role = iota
	receives
	probes
)

func (o *Op) pattern() pattern { return pattern{o.peer, o.tag} }

// Send begins to send a message.
func (e *Engine) Send(r *Request) *Op { return e.begin(sends, r) }

// Receive begins to receive a message.
func (e *Engine) Receive(r *Request) *Op { return e.begin(receives, r) }

// Probe begins to wait for a message, which it does not receive.
func (e *Engine) Probe(r *Request) *Op { return e.begin(probes, r) }

// begin begins a call.
func (e *Engine) begin(what role, r *Request) *Op {
	o := &Op{e: e, what: what, name: r.Name, label: r.Label, peer: r.Peer, tag: r.Tag, typ: r.Type, buf: r.Buf,
		since: time.Now(), done: make(chan struct{})}
	if what == receives && len(r.Buf) > EagerLimit {
		o.toRead = make(chan struct{}, 1)
	}
	e.mu.Lock()
	defer e.unlock()
	e.begun++
	o.order = e.begun
	e.waiting[o] = true
	switch {
	case e.over:
		e.finish(o, wire.ErrClosed)
	case what == sends:
		e.beginSend(o)
	case what == receives:
		e.beginReceive(o)
	default:
		e.beginProbe(o)
	}
	return o
}

// beginProbe finds a message that has come, or has o wait for one. The engine is locked.
func (e *Engine) beginProbe(o *Op) {
	if m := e.matcher.first(o.pattern()); m != nil {
		o.status = m.status()
		e.finish(o, nil)
		return
	}
	e.probes = append(e.probes, o)
	if err := e.hopeless(o); err != nil {
		e.finish(o, err)
	}
}

// Find returns the first message from a rank, or Any, with a tag, or Any, that no receive has matched. Its error says
// that none will come.
func (e *Engine) Find(source, tag int) (Status, bool, error) {
	e.mu.Lock()
	defer e.unlock()
	o := &Op{peer: source, tag: tag}
	if m := e.matcher.first(o.pattern()); m != nil {
		return m.status(), true, nil
	}
	return Status{}, false, e.hopeless(o)
}

// finish ends o. After that, its buffer is not touched, except by a read that was under way: Wait returns after that.
// The engine is locked.
func (e *Engine) finish(o *Op, err error) {
	o.over, o.err = true, err
	o.seal.Store(0)
	if o.what == receives && o.message != nil {
		o.tidy(o.buf[:o.message.length])
	}
	o.buf, o.message = nil, nil
	delete(e.waiting, o)
	if o.what == probes {
		e.probes = slices.DeleteFunc(e.probes, func(x *Op) bool { return x == o })
	}
	close(o.done)
}

// Over reports whether o is over.
func (o *Op) Over() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// Wait waits until o is over, and returns its result. When ctx ends, or the communicator, o ends too: with a
// TimeoutError, with wire.ErrAborted after ended, or with wire.ErrClosed after Leave.
func (o *Op) Wait(ctx context.Context, ended <-chan struct{}) (Status, error) {
	wire.ReportWait(ctx, o.Waiting)
	var err error
	select {
	case <-o.done:
		return o.status, o.err
	case <-o.toRead:
		o.read(o.ended(ctx, ended))
		return o.Wait(ctx, ended)
	case <-ctx.Done():
		err = wire.Timeout(ctx, nil)
	case <-o.e.left:
		err = wire.ErrClosed
	case <-ended:
		err = wire.ErrAborted
	}
	return o.end(err)
}

// end ends o with err, unless it is over, and returns its result.
func (o *Op) end(err error) (Status, error) {
	e := o.e
	e.mu.Lock()
	defer e.unlock()
	if o.over {
		return o.status, o.err
	}
	if late, ok := err.(*wire.TimeoutError); ok {
		late.Waiting = e.awaited(o)
	}
	switch o.what {
	case sends:
		e.withdrawSend(o, err)
	case receives:
		e.withdrawReceive(o, err)
	default:
		e.finish(o, err)
	}
	return o.status, o.err
}

// Cancel ends a receive with err, unless a message has matched it. It reports whether it did.
func (o *Op) Cancel(err error) bool {
	e := o.e
	e.mu.Lock()
	defer e.unlock()
	if o.over || o.what != receives || o.message != nil {
		return false
	}
	e.withdrawReceive(o, err)
	return true
}

// Waiting returns the ranks that o waits for.
func (o *Op) Waiting() []int {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	return o.e.awaited(o)
}

// awaited is Waiting for a locked engine.
func (e *Engine) awaited(o *Op) (ranks []int) {
	switch {
	case o.over:
		return nil
	case o.message != nil:
		return []int{o.message.source}
	case o.peer != Any:
		return []int{o.peer}
	}
	for rank := range e.size {
		if rank != e.rank && (e.peers[rank] == nil || e.peers[rank].gone == nil) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// Running returns the calls that wait, at most that many, those that began first.
func (e *Engine) Running(most int) (calls []health.Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*Op
	for o := range e.waiting {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Op) int { return cmp.Compare(a.order, b.order) })
	for _, o := range all[:min(len(all), max(0, most))] {
		op := o.name
		if o.tag != Any {
			op = fmt.Sprint(o.name, " of tag ", o.tag)
		}
		calls = append(calls, health.Call{Op: op, Label: o.label, Peer: o.peer, Begun: max(0, time.Since(o.since)),
			Waiting: failure.Listed(e.awaited(o))})
	}
	return calls
}
