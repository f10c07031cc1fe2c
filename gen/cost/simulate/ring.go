package simulate

// depart has its sender put the first segment of a message, as soon as there is room.
func (w *world) depart(id int32) {
	m := w.messages.at(id)
	if g := w.ringOf(m.pair); g != nil {
		g.waiting.push(id)
		w.fill(g)
		return
	}
	w.give(m.from, work{putting, id})
}

// goOn has the sender of a message, of which a segment was put, put the next one that there is.
func (w *world) goOn(id int32) {
	m := w.messages.at(id)
	more := m.put < w.segmentsOf(m)
	g := w.ringOf(m.pair)
	switch {
	case g != nil:
		if g.busy = false; !more {
			g.waiting.pop()
		}
		w.fill(g)
	case more:
		w.give(m.from, work{putting, id})
	}
}

// fill has the sender put a segment, if there is one, and room for it.
func (w *world) fill(g *ring) {
	if g.busy || g.full == w.m.Ring || g.waiting.empty() {
		return
	}
	g.busy = true
	g.full++
	id := g.waiting.items[g.waiting.head]
	w.give(w.messages.at(id).from, work{putting, id})
}

// drain takes a segment out.
func (w *world) drain(p pair, at moment) {
	if g := w.ringOf(p); g != nil {
		g.full--
		g.room = at
		w.fill(g)
	}
}
