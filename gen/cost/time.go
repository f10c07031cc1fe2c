package cost

import (
	"cmp"
	"container/heap"
	"errors"
	"slices"

	"github.com/collgen/collgen/gen"
)

// Price is what the parts of a schedule cost, in any unit of time.
type Price struct {
	Alpha int // a message
	Beta  int // a chunk on the wire
	Gamma int // a chunk reduced: one application of the op to two operands
}

// Time returns how long s takes where every rank has one port in each direction and reduces one thing at a time. It
// fails for a schedule that cannot end.
//
// A message occupies its sender's port out and its receiver's port in from its start to its arrival. It starts when
// both ends have come to it and both ports are free; of several that could, the one that its sender lists first, and of
// these that of the lowest rank. What a receive-reduce received is reduced after its arrival. Copies and Finish are
// free.
func Time(s *gen.Schedule, p Price) (int, error) { return play(newTasks(s), s.Size, p) }

// play carries tasks out, which other prices may have been tried on before.
func play(tasks []task, size int, p Price) (int, error) {
	c := &clock{price: p, ports: make([]ports, size)}
	for i := range tasks {
		tasks[i].waits, tasks[i].here = len(tasks[i].After), false
	}
	for i := range tasks {
		if len(tasks[i].After) == 0 {
			c.ready(&tasks[i])
		}
	}
	c.start()
	for len(c.agenda) > 0 {
		c.now = c.agenda[0].when
		for len(c.agenda) > 0 && c.agenda[0].when == c.now {
			c.happen(heap.Pop(&c.agenda).(event).what)
		}
		c.start()
	}
	if c.done < len(tasks) {
		return 0, errors.New("the schedule cannot end")
	}
	return c.now, nil
}

// task is an instruction that is to be done.
type task struct {
	*gen.Instr
	rank, index int     // where it stands
	other       *task   // the other end of the message that it sends or receives
	next        []*task // what waits for it
	waits       int     // how many tasks it still waits for
	here        bool    // its rank has come to it
}

// newTasks returns the tasks of s, rank by rank.
func newTasks(s *gen.Schedule) []task {
	first := make([]int, len(s.Ranks)+1) // of every rank
	for rank := range s.Ranks {
		first[rank+1] = first[rank] + len(s.Ranks[rank].Instrs)
	}
	tasks := make([]task, first[len(s.Ranks)])
	for rank := range s.Ranks {
		own := tasks[first[rank]:first[rank+1]]
		for i := range own {
			in := &s.Ranks[rank].Instrs[i]
			own[i] = task{Instr: in, rank: rank, index: i}
			for _, j := range in.After {
				own[j].next = append(own[j].next, &own[i])
			}
		}
	}
	for _, m := range s.Messages() {
		send, recv := &tasks[first[m.From]+m.Send], &tasks[first[m.To]+m.Recv]
		send.other, recv.other = recv, send
	}
	return tasks
}

// clock is a run of a schedule in time.
type clock struct {
	price  Price
	now    int
	agenda agenda
	queue  []*task // the Sends of messages that only wait for ports
	ports  []ports // of every rank
	done   int     // how many tasks are
}

// ports says when the resources of a rank are free.
type ports struct{ out, in, arithmetic int }

// event is the arrival of a message that is sent, or the end of a reduction.
type event struct {
	when int
	what *task
}

// ready is called when t has nothing to wait for any more.
func (c *clock) ready(t *task) {
	t.here = true
	switch {
	case t.Kind == gen.ReduceInstr:
		c.reduce(t, len(t.Srcs)-1)
	case t.Kind != gen.SendInstr && !t.Kind.IsReceive():
		c.complete(t)
	case t.other == nil || !t.other.here: // waits for the other rank
	case t.Kind == gen.SendInstr:
		c.queue = append(c.queue, t)
	default:
		c.queue = append(c.queue, t.other)
	}
}

// start starts the messages whose ports are free.
func (c *clock) start() {
	slices.SortFunc(c.queue, func(x, y *task) int {
		return cmp.Or(cmp.Compare(x.index, y.index),
			cmp.Compare(x.rank, y.rank))
	})
	c.queue = slices.DeleteFunc(c.queue, func(t *task) bool {
		out, in := &c.ports[t.rank].out, &c.ports[t.Peer].in
		if max(*out, *in) > c.now {
			return false
		}
		arrival := c.now + c.price.Alpha + c.price.Beta*t.Srcs[0].N
		*out, *in = arrival, arrival
		heap.Push(&c.agenda, event{arrival, t})
		return true
	})
}

// reduce starts to apply the op times times to what t writes.
func (c *clock) reduce(t *task, times int) {
	free := &c.ports[t.rank].arithmetic
	*free = max(*free, c.now) + c.price.Gamma*times*t.Dst.N
	heap.Push(&c.agenda, event{*free, t})
}

func (c *clock) happen(t *task) {
	if t.Kind == gen.SendInstr {
		if t.other.Kind == gen.RecvReduceInstr {
			c.reduce(t.other, 1)
		} else {
			c.complete(t.other)
		}
	}
	c.complete(t)
}

func (c *clock) complete(t *task) {
	c.done++
	for _, n := range t.next {
		if n.waits--; n.waits == 0 {
			c.ready(n)
		}
	}
}

// agenda is a heap of events.
type agenda []event

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].when < a[j].when }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *agenda) Push(x any) { *a = append(*a, x.(event)) }

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	*a = (*a)[:last]
	return e
}
