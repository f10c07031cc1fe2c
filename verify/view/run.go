package view

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// run carries a schedule out on nodes, as far as it goes. The schedule has passed the check verify.Shape.
type run struct {
	s       *gen.Schedule
	want    *spec.Expectation
	inPlace bool
	rounds  [][]int // by rank and step

	base      [][]int // by buffer and rank, the first cell
	start     []int   // by rank, the first of its cells
	metAt     []int   // by rank, the cell of those that it has met; nil: nobody asks
	cells     int
	undefined []int
	renamed   []int // cells that hold an input of another name before the call
	mem       []int // by cell, the node
	nodes     nodes

	tasks []task
	first []int // by rank, its first task; one more at the end
	ready tasks
	data  *Data
}

// task is an instruction that is to be done.
type task struct {
	*gen.Instr
	rank, index int
	round       int
	mate        int     // of a receive, the task of its send, and the other way round; -1: there is none
	waits       int     // for how many tasks it still waits
	next        []int   // those that wait for it
	done        bool    // whether it was carried out
	sent        []int   // of a send, the nodes
	by          rankSet // who has entered when it begins or ends; nil: nobody asks
}

// order puts what can be done into the order in which it is done: by round, and of one round sends first, which take
// what was there before.
func (t *task) order(u *task) int {
	phase := func(t *task) int {
		switch {
		case t.Kind == gen.SendInstr:
			return 0
		case t.Kind.IsReceive():
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(t.round, u.round), cmp.Compare(phase(t), phase(u)), cmp.Compare(t.rank, u.rank),
		cmp.Compare(t.index, u.index))
}

// tasks is a heap of tasks that wait for nothing.
type tasks []*task

func (h tasks) Len() int           { return len(h) }
func (h tasks) Less(i, j int) bool { return h[i].order(h[j]) < 0 }
func (h tasks) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a task.
func (h *tasks) Push(x any) { *h = append(*h, x.(*task)) }

// Pop takes the last task out.
func (h *tasks) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}

// prepare makes the tasks, and finds what each waits for.
func (r *run) prepare() {
	r.first = make([]int, len(r.s.Ranks)+1)
	for rank := range r.s.Ranks {
		r.first[rank+1] = r.first[rank] + len(r.s.Ranks[rank].Instrs)
	}
	r.tasks = make([]task, r.first[len(r.s.Ranks)])
	for rank := range r.s.Ranks {
		for i := range r.s.Ranks[rank].Instrs {
			in := &r.s.Ranks[rank].Instrs[i]
			r.tasks[r.first[rank]+i] = task{Instr: in, rank: rank, index: i, round: r.rounds[rank][in.Step], mate: -1}
		}
	}
	for _, m := range r.s.Messages() {
		send, recv := r.first[m.From]+m.Send, r.first[m.To]+m.Recv
		r.tasks[send].mate, r.tasks[recv].mate = recv, send
	}
	for g := range r.tasks {
		t := &r.tasks[g]
		for _, a := range t.After {
			r.follow(r.first[t.rank]+a, g)
		}
		if t.Kind.IsReceive() {
			r.follow(t.mate, g)
			if t.AfterSend >= 0 {
				r.follow(r.first[t.rank]+t.AfterSend, g)
			}
		}
	}
}

// follow says that task g waits for another one; -1: for ever.
func (r *run) follow(before, g int) {
	r.tasks[g].waits++
	if before >= 0 {
		r.tasks[before].next = append(r.tasks[before].next, g)
	}
}

// play carries out all that can be.
func (r *run) play() {
	for g := range r.tasks {
		if t := &r.tasks[g]; t.waits == 0 {
			heap.Push(&r.ready, t)
		}
	}
	for len(r.ready) > 0 {
		t := heap.Pop(&r.ready).(*task)
		r.execute(t)
		t.done = true
		for _, g := range t.next {
			n := &r.tasks[g]
			if n.rank == t.rank {
				n.round = max(n.round, t.round) // its step may be named wrongly
			}
			if n.waits--; n.waits == 0 {
				heap.Push(&r.ready, n)
			}
		}
	}
	r.sortWrites()
}

// sortWrites puts what was written into the order of rounds, and within a round into that in which it was written.
func (r *run) sortWrites() {
	type write [3]int
	list := make([]write, 0, len(r.data.Writes)/3)
	for w := range slices.Chunk(r.data.Writes, 3) {
		list = append(list, write(w))
	}
	slices.SortStableFunc(list, func(a, b write) int { return a[0] - b[0] })
	for i, w := range list {
		copy(r.data.Writes[3*i:], w[:])
	}
}
