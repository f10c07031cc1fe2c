package message

import (
	"container/list"
	"iter"
)

// fifo is a queue, out of which elements can also be taken in any order at the same cost. No element is in it twice.
// The zero fifo is empty.
type fifo[E comparable] struct {
	list list.List
	at   map[E]*list.Element
}

func (q *fifo[E]) len() int { return q.list.Len() }

// push adds e at the end.
func (q *fifo[E]) push(e E) {
	if q.at == nil {
		q.at = make(map[E]*list.Element)
	}
	q.at[e] = q.list.PushBack(e)
}

// first returns the element that was added first of those that are left. There has to be one.
func (q *fifo[E]) first() E { return q.list.Front().Value.(E) }

// remove removes e, if it is there.
func (q *fifo[E]) remove(e E) {
	if at := q.at[e]; at != nil {
		q.list.Remove(at)
		delete(q.at, e)
	}
}

// all returns the elements in the order in which they were added. The one that it has come to may be removed meanwhile.
func (q *fifo[E]) all() iter.Seq[E] {
	return func(yield func(E) bool) {
		for at := q.list.Front(); at != nil; {
			next := at.Next()
			if !yield(at.Value.(E)) {
				return
			}
			at = next
		}
	}
}
