package rdma

// batchWrites is how many writes are posted at once.
const batchWrites = 8

// write has w carried out on l, in the order of the calls, at the latest by the next post. Out of no other memory it is out of the
// slot to send from. Of a quarter of them one is signalled, which frees the slots of those before it too.
func (e *Endpoint) write(l *link, w Write) {
	n := l.line
	w.ID = l.begun
	w.Signal = w.Signal || (w.ID+1)%uint64(n.slots/4) == 0
	w.Inline = w.Length <= n.pair.Inline()
	if w.From == nil && w.Length > 0 {
		slot := int(l.begun % uint64(n.slots))
		w.From, w.Memory, w.Offset = n.region, n.memory, w.Offset+sendAt(n.slots, n.bytes)+slot*int(n.bytes)
	}
	if w.Key == 0 {
		w.Key = n.remote.key
	}
	l.begun++
	if w.Signal {
		l.signed = l.begun
	}
	if e.batch = append(e.batch, w); len(e.batch) == batchWrites {
		e.post(l)
	}
}

// signal writes an immediate without bytes.
func (e *Endpoint) signal(l *link, imm uint32) {
	e.write(l, Write{To: l.line.remote.at, Immediate: imm, Tell: true})
}

// post posts what was written on l.
func (e *Endpoint) post(l *link) {
	if len(e.batch) == 0 {
		return
	}
	if err := l.line.pair.Write(e.batch); err != nil {
		l.Fail(l.Died("%w", err))
		l.dead, l.ended = true, l.begun
	}
	clear(e.batch)
	e.batch = e.batch[:0]
}
