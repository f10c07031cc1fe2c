package simulate

// pool is many values of one type, which are used again. They do not move, and their numbers count from 0.
type pool[T any] struct {
	pages [][]T
	free  []int32
	taken int32
}

const pageOf = 1 << 10

// at is value i.
func (p *pool[T]) at(i int32) *T { return &p.pages[i/pageOf][i%pageOf] }

// take returns the number of a zero value.
func (p *pool[T]) take() (i int32) {
	if last := len(p.free) - 1; last >= 0 {
		i, p.free = p.free[last], p.free[:last]
		*p.at(i) = *new(T)
		return i
	}
	if int(p.taken) == len(p.pages)*pageOf {
		p.pages = append(p.pages, make([]T, pageOf))
	}
	p.taken++
	return p.taken - 1
}

// inUse returns how many were taken and not given back.
func (p *pool[T]) inUse() int { return int(p.taken) - len(p.free) }

func (p *pool[T]) give(i int32) { p.free = append(p.free, i) }

// queue is first in, first out.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) empty() bool { return q.head == len(q.items) }

func (q *queue[T]) push(x T) {
	if q.head > 16 && 2*q.head > len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, x)
}

func (q *queue[T]) pop() T {
	q.head++
	return q.items[q.head-1]
}
