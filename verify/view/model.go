package view

import "slices"

// At returns the node that a cell holds at a moment.
func (d *Data) At(cell, moment int) int {
	node := cell
	for w := range slices.Chunk(d.Writes, 3) {
		if w[0] >= moment {
			break
		}
		if w[1] == cell {
			node = w[2]
		}
	}
	return node
}

// Message is one message of a call.
type Message struct {
	From, To    int
	Sent, Round int // the rounds of its sender's step, and of its receiver's
	Cell        int // the first that is sent; -1: the message is empty
	N           int // chunks
	Reduces     bool
}

// Sends returns the messages that arrive in a round.
func (d *Data) Sends(round int) (list []Message) {
	for m := range slices.Chunk(d.Messages, messageFields) {
		if m[3] != round {
			continue
		}
		x := Message{From: m[0], To: m[1], Sent: m[2], Round: m[3], Cell: -1, N: m[8], Reduces: m[9]&reduces != 0}
		if m[4] >= 0 {
			x.Cell = d.Buffers[m[4]].Base[m[0]] + m[5]
		}
		list = append(list, x)
	}
	return list
}

// Ranks returns the ranks whose inputs are in a node, ascending; none if nobody has written to it.
func (d *Data) Ranks(node int) (list []int) {
	if node < d.Cells {
		if rank, ok := d.inputOf(node); ok {
			return []int{rank}
		}
		return nil
	}
	for r := range slices.Chunk(d.Sets[d.SetOf[node-d.Cells]], 2) {
		for rank := r[0]; rank < r[1]; rank++ {
			list = append(list, rank)
		}
	}
	return list
}

// IsFinished reports whether a node is a finished reduction.
func (d *Data) IsFinished(node int) bool {
	return node >= d.Cells && d.Inner[2*(node-d.Cells)+1] == Finished
}

// inputOf returns the rank whose input a cell holds before the call, or which is known there to have entered.
func (d *Data) inputOf(cell int) (rank int, ok bool) {
	if slices.Contains(d.Undefined, cell) {
		return 0, false
	}
	for _, b := range d.Buffers {
		for rank, base := range b.Base {
			if (b.Name == bufs[0] || b.Name == met) && cell >= base && cell < base+b.Len[rank] {
				return rank, true
			}
		}
	}
	return 0, false
}
