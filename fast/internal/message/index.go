package message

import (
	"cmp"
	"container/list"
	"slices"
)

// index has elements in the order in which they were added, and finds the first of those that were added under a
// pattern. Each is in it once. To find or remove one costs the same however many there are. The zero index is empty.
type index[E comparable] struct {
	added uint64
	at    map[E]*entry[E]
	under map[pattern]*list.List // of *entry[E]
}

// entry is an element of an index.
type entry[E comparable] struct {
	element  E
	number   uint64 // in the order in which they were added
	patterns []pattern
	in       []*list.Element // by pattern
}

func (x *index[E]) len() int { return len(x.at) }

// add adds e under patterns.
func (x *index[E]) add(e E, patterns ...pattern) {
	if x.at == nil {
		x.at, x.under = make(map[E]*entry[E]), make(map[pattern]*list.List)
	}
	x.added++
	n := &entry[E]{element: e, number: x.added, patterns: patterns, in: make([]*list.Element, 0, len(patterns))}
	x.at[e] = n
	for _, p := range patterns {
		l := x.under[p]
		if l == nil {
			l = list.New()
			x.under[p] = l
		}
		n.in = append(n.in, l.PushBack(n))
	}
}

// remove removes e, if it is there.
func (x *index[E]) remove(e E) {
	n := x.at[e]
	if n == nil {
		return
	}
	delete(x.at, e)
	for i, p := range n.patterns {
		l := x.under[p]
		if l.Remove(n.in[i]); l.Len() == 0 {
			delete(x.under, p)
		}
	}
}

// first returns the element that was added first under any of patterns.
func (x *index[E]) first(patterns ...pattern) (e E, ok bool) {
	var first *entry[E]
	for _, p := range patterns {
		if l := x.under[p]; l != nil {
			if n := l.Front().Value.(*entry[E]); first == nil || n.number < first.number {
				first = n
			}
		}
	}
	if first == nil {
		return e, false
	}
	return first.element, true
}

// removeAll removes and returns the elements for which unwanted returns true, in order.
func (x *index[E]) removeAll(unwanted func(e E) bool) (removed []E) {
	for _, n := range x.entries() {
		if unwanted(n.element) {
			x.remove(n.element)
			removed = append(removed, n.element)
		}
	}
	return removed
}

// entries returns the entries in order.
func (x *index[E]) entries() []*entry[E] {
	all := make([]*entry[E], 0, len(x.at))
	for _, n := range x.at {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *entry[E]) int { return cmp.Compare(a.number, b.number) })
	return all
}
