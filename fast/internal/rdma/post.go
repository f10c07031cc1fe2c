package rdma

// batchWrites is how many writes are posted at once.
const batchWrites = 8

// write has w carried out on t, in the order of the calls, at the latest by the next post. Out of no other memory it is
// out of the slot to send from. Of a quarter of them one is signalled, which frees the slots of those before it too.
func (e *Endpoint) write(t *lane, w Write) {
	n := t.link.line
	if e.aim != t {
		e.post()
		e.aim = t
	}
	w.ID = t.begun
	w.Signal = w.Signal || (w.ID+1)%uint64(n.slots/4) == 0
	w.Inline = w.Length <= t.pair.Inline()
	if w.From == nil && w.Length > 0 {
		slot := int(t.begun % uint64(n.slots))
		w.From, w.Memory, w.Offset = t.region, n.memory, w.Offset+sendAt(n.slots, n.bytes)+slot*int(n.bytes)
	}
	t.begun++
	if w.Signal {
		t.signed = t.begun
	}
	if e.batch = append(e.batch, w); len(e.batch) == batchWrites {
		e.post()
	}
}

// signal writes an immediate without bytes.
func (e *Endpoint) signal(t *lane, imm uint32) {
	e.write(t, Write{To: t.link.line.remote.at, Key: t.key, Immediate: imm, Tell: true})
}

// post posts what was written. If that fails, what was posted before may still be carried out: it is over when that is
// told.
func (e *Endpoint) post() {
	if len(e.batch) == 0 {
		return
	}
	t := e.aim
	if posted, err := t.pair.Write(e.batch); err != nil {
		t.begun -= uint64(len(e.batch) - posted)
		t.signed = min(t.signed, t.begun)
		t.link.Fail(t.link.PeerDied("%w", err))
		t.link.cut()
	}
	clear(e.batch)
	e.batch = e.batch[:0]
}
