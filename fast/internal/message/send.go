package message

import (
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// sender is what is sent to a rank.
type sender struct {
	used      int             // of the credit
	announced int             // messages for which the rank has given no answer
	unseen    int             // announcements that the rank has not said to have seen
	lastID    uint64          // of an announced message
	backlog   fifo[*Op]       // not announced yet
	pending   map[uint64]*Op  // announced, by id
	abandoned map[uint64]bool // announced and given up, which the rank has not answered, by id
	active    []*Op           // accepted, and with bytes that were not sent
	inFlight  int             // bytes of announced messages that were not acknowledged
}

// beginSend sends the message of o, announces it, or keeps it. The engine is locked.
func (e *Engine) beginSend(o *Op) {
	p := e.peer(o.peer)
	switch {
	case p.gone != nil:
		e.finish(o, &wire.PeerError{Rank: p.rank, Err: p.gone})
	case p.backlog.len() > 0 || !e.trySend(p, o):
		p.backlog.push(o)
	}
}

// trySend sends or announces the message of o, and reports whether it could. The engine is locked.
func (e *Engine) trySend(p *peer, o *Op) bool {
	switch {
	case len(o.buf) <= EagerLimit && e.spend(p, len(o.buf)+overhead):
		e.send(p, frame{kind: eager, typ: o.typ, tag: uint32(o.tag), data: o.buf})
		e.finish(o, nil)
		return true
	case p.announced >= MaxAnnounced || p.unseen >= MaxUnseen:
		return false
	}
	p.sender.lastID++
	p.announced++
	p.unseen++
	o.id = p.sender.lastID
	if p.pending == nil {
		p.pending = make(map[uint64]*Op)
	}
	p.pending[o.id] = o
	f := frame{kind: announce, typ: o.typ, tag: uint32(o.tag), id: o.id, n: uint64(len(o.buf))}
	if at := e.expose(p, o); at != (place{}) {
		f.data = at.encode()
	}
	e.send(p, f)
	return true
}

// spend takes n bytes of the credit at p, and reports whether it could. The engine is locked.
func (e *Engine) spend(p *peer, n int) bool {
	if p.used+n > EagerCredit {
		return false
	}
	if b, process := e.share(p); b != nil && !b.reserveCredit(process, n) {
		return false
	}
	p.used += n
	return true
}

// takeCredit takes the credit that p returns.
func (e *Engine) takeCredit(p *peer, n int) bool {
	if n > p.used {
		return false
	}
	p.used -= n
	if b, process := e.share(p); b != nil {
		b.releaseCredit(process, n)
	}
	e.drain(p)
	return true
}

// drain sends or announces what has waited for it, unless this rank has closed. The engine is locked.
func (e *Engine) drain(p *peer) {
	for !e.over && p.backlog.len() > 0 {
		o := p.backlog.first()
		if !e.trySend(p, o) {
			return
		}
		p.backlog.remove(o)
	}
}

// takeSeen takes that p has seen n announcements.
func (e *Engine) takeSeen(p *peer, n int) bool {
	if n > p.unseen {
		return false
	}
	p.unseen -= n
	e.drain(p)
	return true
}

// takeAccept takes that p has matched a message. It does not count if this rank has abandoned the message meanwhile.
func (e *Engine) takeAccept(p *peer, id uint64) bool {
	o := p.pending[id]
	if o == nil {
		e.answered(p, id)
		return id <= p.sender.lastID
	}
	if o.accepted || len(o.buf) == 0 {
		return false
	}
	o.accepted = true
	p.announced--
	p.active = append(p.active, o)
	e.drain(p)
	e.pump(p)
	return true
}

// pump sends bytes of accepted messages, as many as may be on their way, unless this rank has closed. The engine is
// locked.
func (e *Engine) pump(p *peer) {
	for !e.over && len(p.active) > 0 {
		o := p.active[0]
		n := min(len(o.buf)-o.moved, maxChunk)
		if p.inFlight+n > Window {
			return
		}
		if b, process := e.share(p); b != nil && !b.reserveWindow(process, n, e) {
			return
		}
		p.inFlight += n
		e.send(p, frame{kind: data, id: o.id, data: o.buf[o.moved : o.moved+n]})
		if o.moved += n; o.moved == len(o.buf) {
			p.active = without(p.active, 0)
		}
	}
}

// takeAck takes that bytes have come to p.
func (e *Engine) takeAck(p *peer, f *frame) bool {
	if f.n > uint64(p.inFlight) || f.id > p.sender.lastID {
		return false
	}
	o := p.pending[f.id]
	if o != nil && o.moved < len(o.buf) && (o.accepted || o.seal.Load() == 0) {
		return false
	}
	e.landed(p, int(f.n))
	if o != nil {
		e.forget(p, o)
		e.finish(o, nil)
	}
	e.answered(p, f.id)
	e.drain(p)
	e.pump(p)
	return true
}

// answered takes that p has answered what it was told of a message. If this rank has abandoned the message meanwhile,
// its place is free now, and not before: otherwise calls that begin and end could have any number of frames under way.
func (e *Engine) answered(p *peer, id uint64) {
	if p.abandoned[id] {
		delete(p.abandoned, id)
		p.announced--
		e.drain(p)
	}
}

// landed counts n bytes that are not on their way to p any more. The engine is locked.
func (e *Engine) landed(p *peer, n int) {
	p.inFlight -= n
	if b, process := e.share(p); b != nil && n > 0 {
		for _, other := range b.releaseWindow(process, n) {
			e.after = append(e.after, other.wake)
		}
	}
}

// takeRefusal takes that p does not want the bytes of a message.
func (e *Engine) takeRefusal(p *peer, f *frame) bool {
	o := p.pending[f.id]
	if o == nil {
		e.answered(p, f.id)
		return f.id <= p.sender.lastID
	}
	e.forget(p, o)
	var err error
	if f.fate != consumed {
		err = &wire.PeerError{Rank: p.rank, Err: &wire.TimeoutError{Waiting: []int{e.rank}, Err: f.fate.cause()}}
	}
	e.finish(o, err)
	e.drain(p)
	e.pump(p)
	return true
}

// forget removes an announced message. The engine is locked.
func (e *Engine) forget(p *peer, o *Op) {
	delete(p.pending, o.id)
	switch {
	case !o.accepted:
		p.announced--
	case o.moved < len(o.buf):
		p.active = slices.DeleteFunc(p.active, func(x *Op) bool { return x == o })
	}
}

// withdrawSend gives up the message of o, whose call ends with err. The engine is locked.
func (e *Engine) withdrawSend(o *Op, err error) {
	p := e.peer(o.peer)
	if o.id == 0 {
		p.backlog.remove(o)
	} else {
		e.forget(p, o)
		if !o.accepted {
			if p.abandoned == nil {
				p.abandoned = make(map[uint64]bool)
			}
			p.abandoned[o.id] = true
			p.announced++ // until p has answered
		}
		if fate, told := fateOf(err); told {
			e.send(p, frame{kind: abandon, id: o.id, fate: fate})
		}
	}
	e.finish(o, err)
	e.drain(p)
	e.pump(p)
}

// loseSends fails what is sent to p. The engine is locked.
func (e *Engine) loseSends(p *peer, err error) {
	for o := range p.backlog.all() {
		e.finish(o, err)
	}
	for _, o := range p.pending {
		e.finish(o, err)
	}
	p.backlog, p.pending, p.abandoned, p.active, p.announced, p.unseen = fifo[*Op]{}, nil, nil, nil, 0, 0
	e.giveBack(p)
}

// giveBack gives back what p has of the budget. The engine is locked.
func (e *Engine) giveBack(p *peer) {
	if b, process := e.share(p); b != nil {
		b.releaseCredit(process, p.used)
	}
	p.used = 0
	e.landed(p, p.inFlight)
}
