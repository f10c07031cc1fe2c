package message

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// Any stands for any source, and for any tag.
const Any = -1

// pattern is what messages a receive matches.
type pattern struct{ source, tag int }

func (p pattern) matches(e *envelope) bool {
	return (p.source == Any || p.source == e.source) && (p.tag == Any || p.tag == e.tag)
}

// envelope is a message that has arrived, or was announced.
type envelope struct {
	source, tag int
	typ         spec.Type
	number      uint64 // which of its sender's messages it is, from 1
	id          uint64 // of an announced message; 0: data has its bytes
	place       place  // of an announced message
	length      int    // in bytes
	data        []byte
}

// receiver is a receive.
type receiver interface {
	comparable
	pattern() pattern
}

// matcher has the receives that no message has matched, and the messages that no receive has. No receive in it matches
// a message in it.
type matcher[R receiver] struct {
	posted  fifo[R]     // in the order in which they were posted
	arrived []*envelope // in the order in which they came
}

// arrive returns the receive that was posted first of those that match e, and removes it. If there is none, it keeps e.
func (m *matcher[R]) arrive(e *envelope) (r R, ok bool) {
	for r := range m.posted.all() {
		if r.pattern().matches(e) {
			m.posted.remove(r)
			return r, true
		}
	}
	m.arrived = append(m.arrived, e)
	return r, false
}

// post returns the message that came first of those that r matches, and removes it. If there is none, it keeps r.
func (m *matcher[R]) post(r R) *envelope {
	i := slices.IndexFunc(m.arrived, r.pattern().matches)
	if i < 0 {
		m.posted.push(r)
		return nil
	}
	e := m.arrived[i]
	m.arrived = without(m.arrived, i)
	return e
}

// without returns s without the element at i. The first one costs nothing, because most often it is that one.
func without[E any](s []E, i int) []E {
	if i > 0 {
		return slices.Delete(s, i, i+1)
	}
	clear(s[:1])
	return s[1:]
}

// first returns the message that came first of those that p matches, or nil.
func (m *matcher[R]) first(p pattern) *envelope {
	if i := slices.IndexFunc(m.arrived, p.matches); i >= 0 {
		return m.arrived[i]
	}
	return nil
}

// removeReceives removes and returns the receives for which unwanted returns true.
func (m *matcher[R]) removeReceives(unwanted func(r R) bool) (removed []R) {
	for r := range m.posted.all() {
		if unwanted(r) {
			m.posted.remove(r)
			removed = append(removed, r)
		}
	}
	return removed
}

// removeMessages removes the messages for which unwanted returns true.
func (m *matcher[R]) removeMessages(unwanted func(e *envelope) bool) {
	m.arrived = slices.DeleteFunc(m.arrived, unwanted)
}
