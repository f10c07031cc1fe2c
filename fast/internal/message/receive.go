package message

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// arrival is what comes from a rank.
type arrival struct {
	held      int                  // bytes of the credit that the rank has spent
	owed      int                  // of these, bytes of messages that were received
	arrived   uint64               // messages
	lastID    uint64               // of an announced message
	unsaid    int                  // announcements that the rank was not told to have been seen
	offers    map[uint64]*envelope // announced, and that no receive has matched, by id
	transfers map[uint64]*Op       // receives whose bytes come or are read, by the message's id
	due       int                  // bytes of announced messages that have come, and were not acknowledged

	unreadable bool // the system does not let this process read the rank's memory
}

// ErrTruncated says that a message is longer than the buffer of its receive.
var ErrTruncated = errors.New("the message is longer than the buffer")

// beginReceive matches o with a message that has come, or keeps it. The engine is locked.
func (e *Engine) beginReceive(o *Op) {
	if m := e.matcher.post(o); m != nil {
		e.match(o, m)
		return
	}
	if err := e.hopeless(o); err != nil {
		e.withdrawReceive(o, err)
	}
}

// hopeless returns why no message will match o, if there is a reason. The engine is locked.
func (e *Engine) hopeless(o *Op) error {
	if o.peer != Any {
		if p := e.peer(o.peer); p.gone != nil {
			return &wire.PeerError{Rank: p.rank, Err: p.gone}
		}
		return nil
	}
	if !e.othersGone() {
		return nil
	}
	for rank := range e.size {
		if rank != e.rank {
			return &wire.PeerError{Rank: rank, Err: e.peer(rank).gone}
		}
	}
	return nil
}

// takeEager takes a message with its bytes.
func (e *Engine) takeEager(p *peer, f *frame) bool {
	if p.held += len(f.data) + overhead; p.held > EagerCredit {
		return false
	}
	e.arrive(p, &envelope{data: f.data, length: len(f.data)}, f)
	return true
}

// takeAnnouncement takes a message without its bytes.
func (e *Engine) takeAnnouncement(p *peer, f *frame) bool {
	if len(p.offers) >= MaxAnnounced || f.id <= p.arrival.lastID {
		return false
	}
	p.arrival.lastID = f.id
	if p.unsaid++; p.unsaid >= MaxUnseen/2 {
		e.send(p, frame{kind: seen, n: uint64(p.unsaid)})
		p.unsaid = 0
	}
	if p.offers == nil {
		p.offers, p.transfers = make(map[uint64]*envelope), make(map[uint64]*Op)
	}
	m := &envelope{id: f.id, length: int(f.n)}
	m.place, _ = placeOf(f.data)
	p.offers[f.id] = m
	e.arrive(p, m, f)
	return true
}

// arrive matches a message of p with a receive, or keeps it. The engine is locked.
func (e *Engine) arrive(p *peer, m *envelope, f *frame) {
	p.arrived++
	m.source, m.tag, m.typ, m.number = p.rank, int(f.tag), f.typ, p.arrived
	if o, ok := e.matcher.arrive(m); ok {
		e.match(o, m)
		return
	}
	for _, o := range slices.Clone(e.probes) {
		if o.pattern().matches(m) {
			o.status = m.status()
			e.finish(o, nil)
		}
	}
}

// match has o receive m. The engine is locked.
func (e *Engine) match(o *Op, m *envelope) {
	p := e.peer(m.source)
	o.status = m.status()
	err := mismatch(o, m)
	if err == nil {
		o.message = m
	}
	if m.id == 0 {
		if err == nil {
			copy(o.buf, m.data)
		}
		e.repay(p, m.length+overhead)
		e.finish(o, err)
		return
	}
	delete(p.offers, m.id)
	switch {
	case err != nil:
		e.send(p, frame{kind: refuse, id: m.id, fate: consumed})
		e.finish(o, err)
	case m.length == 0:
		e.send(p, frame{kind: ack, id: m.id})
		e.finish(o, nil)
	default:
		p.transfers[m.id] = o
		if e.readable(p, o, m) {
			o.toRead <- struct{}{}
			return
		}
		o.accepted = true
		e.send(p, frame{kind: accept, id: m.id})
	}
}

// status returns what a call learns of m.
func (m *envelope) status() Status {
	return Status{Source: m.source, Tag: m.tag, Count: m.length / m.typ.Bytes()}
}

// mismatch returns why o cannot receive m, which has matched.
func mismatch(o *Op, m *envelope) error {
	switch {
	case m.typ != o.typ:
		return &wire.MismatchError{Rank: m.source, Seq: m.number, TheirSeq: m.number, Field: "type",
			Mine: o.typ.String(), Theirs: m.typ.String()}
	case m.length > len(o.buf):
		size := o.typ.Bytes()
		return fmt.Errorf("%w: %d elements from rank %d, with tag %d, and room for %d", ErrTruncated, m.length/size,
			m.source, m.tag, len(o.buf)/size)
	}
	return nil
}

// repay returns credit for n bytes to p, when it is worth a frame: if it is a quarter of what p has spent, or if all
// communicators together owe much. The engine is locked.
func (e *Engine) repay(p *peer, n int) {
	if p.gone != nil {
		return
	}
	p.owed += n
	b, process := e.share(p)
	much := b != nil && b.oweCredit(process, n)
	if much || p.owed >= max(leastRepaid, p.held/4) {
		e.send(p, frame{kind: credit, n: uint64(p.owed)})
		p.held -= p.owed
		e.oweNone(p)
	}
}

// oweNone counts no credit any more that is to be returned to p. The engine is locked.
func (e *Engine) oweNone(p *peer) {
	if b, process := e.share(p); b != nil && p.owed > 0 {
		b.oweCredit(process, -p.owed)
	}
	p.owed = 0
}

// takeData takes bytes of an announced message that a receive has matched. They do not count if it has ended meanwhile.
func (e *Engine) takeData(p *peer, f *frame) bool {
	if f.id > p.arrival.lastID {
		return false
	}
	o := p.transfers[f.id]
	if p.offers[f.id] != nil || o != nil && (!o.accepted || len(f.data) > o.message.length-o.moved) {
		return false
	}
	var whole uint64 // the id, if this was the rest of the message
	if o != nil {
		if o.moved += copy(o.buf[o.moved:], f.data); o.moved == o.message.length {
			whole = f.id
		}
	}
	if e.oweAck(p, len(f.data)) || o == nil || whole != 0 {
		e.acknowledge(p, whole)
	}
	if whole != 0 {
		delete(p.transfers, whole)
		e.finish(o, nil)
	}
	return true
}

// takeAbandon takes that p gives up a message.
func (e *Engine) takeAbandon(p *peer, f *frame) bool {
	if f.id > p.arrival.lastID {
		return false
	}
	if m := p.offers[f.id]; m != nil {
		delete(p.offers, f.id)
		e.matcher.arrived.remove(m)
		e.send(p, frame{kind: refuse, id: f.id, fate: consumed}) // for the sender, its place is free only now
	}
	if o := p.transfers[f.id]; o != nil {
		delete(p.transfers, f.id)
		if !o.accepted { // but it was being read
			e.send(p, frame{kind: refuse, id: f.id, fate: consumed})
		}
		e.acknowledge(p, 0)
		e.finish(o, &wire.PeerError{Rank: p.rank,
			Err: &wire.TimeoutError{Waiting: []int{e.rank}, Err: f.fate.cause()}})
	}
	return true
}

// withdrawReceive gives up o, which ends with err. The engine is locked.
func (e *Engine) withdrawReceive(o *Op, err error) {
	if o.message == nil {
		e.matcher.posted.remove(o)
	} else {
		p := e.peer(o.message.source)
		delete(p.transfers, o.message.id)
		if fate, told := fateOf(err); told {
			e.send(p, frame{kind: refuse, id: o.message.id, fate: fate})
			e.acknowledge(p, 0)
		}
	}
	e.finish(o, err)
}

// loseReceives fails the receives that wait for p, and drops what it has announced. The engine is locked.
func (e *Engine) loseReceives(p *peer, err error) {
	for _, o := range p.transfers {
		e.finish(o, err)
	}
	e.matcher.arrived.removeAll(func(m *envelope) bool { return m.source == p.rank && m.id > 0 })
	p.offers, p.transfers = nil, nil
	e.forgive(p)
	e.oweNone(p)
	lost := func(o *Op) bool { return o.peer == p.rank || o.peer == Any && e.othersGone() }
	for _, o := range e.matcher.posted.removeAll(lost) {
		e.finish(o, err)
	}
	for _, o := range slices.Clone(e.probes) {
		if lost(o) {
			e.finish(o, err)
		}
	}
}
