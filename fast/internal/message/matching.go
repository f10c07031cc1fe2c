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

// patterns returns those of all receives that m matches.
func (m *envelope) patterns() []pattern {
	return []pattern{{m.source, m.tag}, {m.source, Any}, {Any, m.tag}, {Any, Any}}
}

// receive is what a matcher needs of a receive.
type receive interface {
	comparable
	pattern() pattern
}

// matcher has the receives that no message has matched, and the messages that no receive has. No receive in it matches
// a message in it. Of both, the first that matches is found at once, however many there are.
type matcher[R receive] struct {
	posted  index[R]         // under its pattern
	arrived index[*envelope] // under all patterns that it matches
}

// arrive returns the receive that was posted first of those that match e, and removes it. If there is none, it keeps e.
func (m *matcher[R]) arrive(e *envelope) (r R, ok bool) {
	patterns := e.patterns()
	if r, ok = m.posted.first(patterns...); ok {
		m.posted.remove(r)
	} else {
		m.arrived.add(e, patterns...)
	}
	return r, ok
}

// post returns the message that came first of those that r matches, and removes it. If there is none, it keeps r.
func (m *matcher[R]) post(r R) *envelope {
	p := r.pattern()
	e, ok := m.arrived.first(p)
	if ok {
		m.arrived.remove(e)
	} else {
		m.posted.add(r, p)
	}
	return e
}

// first returns the message that came first of those that p matches, or nil.
func (m *matcher[R]) first(p pattern) *envelope {
	e, _ := m.arrived.first(p)
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
