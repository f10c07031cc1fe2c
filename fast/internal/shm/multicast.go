//go:build linux

package shm

import "unsafe"

func newMulticast(m *memory, rank int) (b multicast) {
	b.small, b.full = m.multicast(rank)
	b.slots = make([]multicastSlot, max(b.small.n, b.full.n))
	for i := range b.small.n {
		b.slots[i].readers = make([]reader, 0, m.size) // full slots, which may be many, grow when used
	}
	return b
}

// free reports whether all readers of s are done.
func (s *multicastSlot) free() bool {
	for _, r := range s.readers {
		if r.segment-r.ring.head.tail.Load() < depth { // the reader has not taken it
			return false
		}
	}
	return true
}

// share marks a send that has the same memory as the one before. They may share multicast slots.
func (e *Endpoint) share(before, m *outgoing) {
	if len(m.Data) <= inline || len(m.Data) != len(before.Data) ||
		unsafe.SliceData(m.Data) != unsafe.SliceData(before.Data) {
		return
	}
	if before.shared == 0 {
		e.shared = append(e.shared, shared{})
		before.shared = len(e.shared)
	}
	m.shared = before.shared
}

// putShared puts the next segment of m, the beginning of rest, into a multicast slot, unless another send of the same
// memory already has. It returns where the segment lies and its length. The length is 0 if no slot is free, or if m
// lags behind the other sends.
func (e *Endpoint) putShared(m *outgoing, rest []byte) (where uint32, n int) {
	s, b := &e.shared[m.shared-1], &e.multicast
	if s.stamp == 0 || s.at < m.at || b.slots[s.slot].stamp != s.stamp {
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
	b.slots[s.slot].addReader(&m.link.out)
	return s.where, s.n
}

// putAlone is putShared for a message to a single rank.
func (e *Endpoint) putAlone(r *ring, rest []byte) (where uint32, n int) {
	b := &e.multicast
	i := b.take(true)
	if i < 0 {
		return 0, 0
	}
	b.slots[i].addReader(r)
	return b.write(i, rest, true)
}

// addReader records that the next segment of r lies in s.
func (s *multicastSlot) addReader(r *ring) { s.readers = append(s.readers, reader{r, r.next}) }

// take returns the index of a free slot, small or full, which gets a new stamp and no readers, or -1 if there is none.
// It prefers the first free slot, which was usually used last and is still in the caches.
func (b *multicast) take(full bool) int {
	n := b.small.n
	if full {
		n = b.full.n
	}
	for i := range n {
		if s := &b.slots[i]; s.free() {
			b.stamp++
			s.stamp, s.readers = b.stamp, s.readers[:0]
			return i
		}
	}
	return -1
}

// write writes the beginning of data to slot i. It returns the slot as line.where encodes it, and how many bytes
// fitted.
func (b *multicast) write(i int, data []byte, full bool) (where uint32, n int) {
	to, first := &b.small, inMulticast
	if full {
		to, first = &b.full, inFullMulticast
	}
	return uint32(first + i), to.write(i, data)
}
