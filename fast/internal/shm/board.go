//go:build linux

package shm

import "unsafe"

func newBoard(m *memory, rank int) (b board) {
	b.small, b.full = m.board(rank)
	b.posts = make([]post, max(b.small.n, b.full.n))
	for i := range b.small.n {
		b.posts[i].readers = make([]reader, 0, m.size) // those of others, which are many, grow as they are used
	}
	return b
}

// free reports whether all readers of p are done.
func (p *post) free() bool {
	for _, r := range p.readers {
		if r.segment-r.ring.head.tail.Load() < depth { // it is among those that are not taken
			return false
		}
	}
	return true
}

// share notes which sends have the memory of the one before: these may meet on the board.
func (e *Endpoint) share() {
	e.shared = e.shared[:0]
	for i := 1; i < len(e.out); i++ {
		m, before := &e.out[i], &e.out[i-1]
		if len(m.Data) <= inline || len(m.Data) != len(before.Data) || unsafe.SliceData(m.Data) != unsafe.SliceData(before.Data) {
			continue
		}
		if before.shared == 0 {
			e.shared = append(e.shared, shared{})
			before.shared = len(e.shared)
		}
		m.shared = before.shared
	}
}

// post has the next segment of m, the beginning of rest, on the board, and gives where that is and its length. That is
// 0 if no slot is free, or if m lags behind the other sends of its memory.
func (e *Endpoint) post(m *outgoing, rest []byte) (where uint32, n int) {
	s, b := &e.shared[m.shared-1], &e.board
	if s.stamp == 0 || s.at < m.at || b.posts[s.slot].stamp != s.stamp {
		i := b.take(e.grown)
		if i < 0 {
			return 0, 0
		}
		*s = shared{at: m.at, slot: i, stamp: b.stamp}
		s.where, s.n = b.write(i, rest, e.grown)
	}
	if s.at != m.at {
		return 0, 0
	}
	b.posts[s.slot].read(&m.link.out)
	return s.where, s.n
}

// postAlone is post for a message that goes to one rank.
func (e *Endpoint) postAlone(r *ring, rest []byte) (where uint32, n int) {
	b := &e.board
	i := b.take(true)
	if i < 0 {
		return 0, 0
	}
	b.posts[i].read(r)
	return b.write(i, rest, true)
}

// read notes that the next segment of r lies in p.
func (p *post) read(r *ring) { p.readers = append(p.readers, reader{r, r.next}) }

// take returns a slot that is free, small or full, from now on with a new stamp and without readers: the first one,
// which was used last as a rule, and is in the caches. It is negative if there is none.
func (b *board) take(full bool) int {
	n := b.small.n
	if full {
		n = b.full.n
	}
	for i := range n {
		if p := &b.posts[i]; p.free() {
			b.stamp++
			p.stamp, p.readers = b.stamp, p.readers[:0]
			return i
		}
	}
	return -1
}

// write writes the beginning of data to slot i, and gives where that is, as a line says it, and how much fits there.
func (b *board) write(i int, data []byte, full bool) (where uint32, n int) {
	to, first := &b.small, onBoard
	if full {
		to, first = &b.full, onFullBoard
	}
	return uint32(first + i), to.write(i, data)
}
