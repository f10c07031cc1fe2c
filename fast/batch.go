package fast

import (
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Batch has what f starts on c, and on others, begin when f has returned, and not before: all of it at once, on each
// Comm in the order in which it was started, sends and receives in a row together. It is for calls that are to begin
// together, and to have sends and receives begin without waiting for one of them. In f, a call on one of the Comms that
// is not started, and waiting for a handle, begin what was started so far.
//
// The error is f's. Those of the calls are their handles'; what was started begins whatever f returns.
func (c *Comm) Batch(f func() error, others ...*Comm) error {
	if f == nil {
		return wire.Refuse("Batch", "the function is nil")
	}
	all := append([]*Comm{c}, others...)
	for i, d := range all {
		if d == nil || d.size == 0 {
			return wire.Refuse("Batch", "communicator %d of %d is nil, or was made by neither Run nor Init", i, len(all))
		}
	}
	if fork.Child() { // before locks, which another thread may have held at the fork
		return c.refusedError("Batch", ErrForked)
	}
	for _, d := range all {
		d.starts().hold()
	}
	defer func() {
		for _, d := range all {
			d.starts().release()
		}
	}()
	return f()
}

// hold keeps started calls from beginning, until as many releases.
func (q *queue) hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.batches++
}

func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.batches--; q.batches == 0 {
		q.begin()
	}
}
