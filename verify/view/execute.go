package view

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// execute carries out one task, which waits for nothing.
func (r *run) execute(t *task) {
	r.meet(t)
	dst := r.at(t.rank, t.Dst)
	switch t.Kind {
	case gen.SendInstr:
		for i := range t.Srcs[0].N {
			t.sent = append(t.sent, r.mem[r.at(t.rank, t.Srcs[0])+i])
		}
	case gen.RecvInstr:
		for i, node := range r.tasks[t.mate].sent[:min(t.Dst.N, len(r.tasks[t.mate].sent))] {
			r.write(t, dst+i, node)
		}
	case gen.RecvReduceInstr:
		r.receiveReduce(t, dst)
	case gen.CopyInstr:
		from := r.at(t.rank, t.Srcs[0])
		for i := range t.Dst.N {
			r.write(t, dst+i, r.mem[from+i])
		}
	case gen.ReduceInstr:
		r.reduce(t, dst)
	case gen.FinishInstr:
		for i := range t.Dst.N {
			r.write(t, dst+i, r.inner(r.mem[dst+i], Finished))
		}
	}
	r.record(t)
}

func (r *run) receiveReduce(t *task, dst int) {
	with := r.at(t.rank, t.Srcs[0])
	for i, node := range r.tasks[t.mate].sent[:min(t.Dst.N, len(r.tasks[t.mate].sent))] {
		left, right := r.mem[with+i], node
		if t.ReceivedFirst {
			left, right = right, left
		}
		r.write(t, dst+i, r.inner(left, right))
	}
}

func (r *run) reduce(t *task, dst int) {
	for i := range t.Dst.N {
		node := r.mem[r.at(t.rank, t.Srcs[0])+i]
		for _, p := range t.Srcs[1:] {
			node = r.inner(node, r.mem[r.at(t.rank, p)+i])
		}
		r.write(t, dst+i, node)
	}
}

func (r *run) write(t *task, cell, node int) {
	r.mem[cell] = node
	r.data.Writes = append(r.data.Writes, t.round, cell, node)
}

// meet works out who has entered, as far as a chain of messages tells. It is of a send by when it begins, and of
// everything else by when it ends; the end of a send teaches its rank nothing.
func (r *run) meet(t *task) {
	if r.metAt == nil {
		return
	}
	t.by = newRankSet(r.s.Size)
	t.by.add(t.rank)
	for _, a := range t.After {
		t.by.join(r.tasks[r.first[t.rank]+a].by)
	}
	if t.Kind.IsReceive() {
		t.by.join(r.tasks[t.mate].by)
	}
	cell := r.metAt[t.rank]
	known := r.nodes.set(r, r.mem[cell])
	if all := known.joined(t.by); !all.equal(known) {
		r.write(t, cell, r.nodes.met(all)+r.cells)
	}
}

// The numbers of a message in Data.Messages: its ends, the round of its sender's step and of its receiver's, where the
// data is taken from and where they go (buffer and index, buffer -1 for no data), the chunks, flags, and the place of
// the other operand of a reduction.
const messageFields = 12

// The flags of a message.
const (
	reduces       = 1 << iota // what is received is reduced with what is there
	receivedFirst             // and is the left operand
)

// record adds what t does to the messages or to the local actions.
func (r *run) record(t *task) {
	switch {
	case t.Kind.IsReceive():
		r.data.Messages = append(r.data.Messages, r.message(&r.tasks[t.mate], t)...)
	case t.Kind == gen.CopyInstr, t.Kind == gen.ReduceInstr, t.Kind == gen.FinishInstr:
		r.data.Locals = append(r.data.Locals, r.local(t))
	}
}

// message returns the numbers of the message that is sent by one task and received by the other.
func (r *run) message(send, recv *task) []int {
	from, to, flags := send.Srcs[0], recv.Dst, 0
	with := gen.Place{}
	if recv.Kind == gen.RecvReduceInstr {
		flags, with = reduces, recv.Srcs[0]
		if recv.ReceivedFirst {
			flags |= receivedFirst
		}
	}
	return []int{send.rank, recv.rank, send.round, recv.round, number(from.Buf), from.At, number(to.Buf), to.At, to.N,
		flags, number(with.Buf), with.At}
}

// local returns the numbers of a local action: its kind, rank and round, the number of chunks, and the places of its
// destination and sources.
func (r *run) local(t *task) []int {
	list := []int{int(t.Kind), t.rank, t.round, t.Dst.N, number(t.Dst.Buf), t.Dst.At}
	for _, p := range t.Srcs {
		list = append(list, number(p.Buf), p.At)
	}
	return list
}

// folds reports whether the primitive promises a reduction.
func folds(p spec.Primitive) bool {
	for _, c := range p.Post {
		if c.Value.Kind == spec.Fold {
			return true
		}
	}
	return false
}
