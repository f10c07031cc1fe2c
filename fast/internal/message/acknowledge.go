package message

// A frame for each chunk that has come would wake the sender each time. So a chunk is acknowledged with those after it:
// when half a Window has come, when its message has come or is given up, or when the communicators of this process have
// not acknowledged a part of what the sender's process may have under way. That part is small enough that the process
// can always send more on every communicator.

// maxDue is how many bytes a communicator leaves unacknowledged.
const maxDue = Window / 2

// oweAck counts n bytes of an announced message that have come from p, and reports whether to acknowledge them now. The
// engine is locked.
func (e *Engine) oweAck(p *peer, n int) (now bool) {
	p.due += n
	b, process := e.share(p)
	much := b != nil && b.oweAck(process, n)
	return much || p.due >= maxDue
}

// acknowledge tells p that what has come has come; with an id, all of that message. The engine is locked.
func (e *Engine) acknowledge(p *peer, id uint64) {
	if id != 0 || p.due > 0 {
		e.send(p, frame{kind: ack, id: id, n: uint64(p.due)})
		e.forgive(p)
	}
}

// forgive counts nothing any more of what has come from p. The engine is locked.
func (e *Engine) forgive(p *peer) {
	if b, process := e.share(p); b != nil && p.due > 0 {
		b.oweAck(process, -p.due)
	}
	p.due = 0
}
