package gen

import (
	"errors"
	"fmt"
)

func (b *builder) runStep(s Step) error {
	if b.inStep {
		return errors.New("a Step stands inside of a Step")
	}
	b.inStep, b.first, b.local = true, len(b.instrs), -1
	err := b.body(s)
	b.inStep = false
	if err != nil {
		return err
	}
	if err := b.linkAfterSend(); err != nil {
		return err
	}
	switch n := len(b.instrs); {
	case b.local >= 0:
		b.ready = b.local
	case n == b.first: // nothing for this rank in this step
		return nil
	case n == b.first+1:
		b.ready = b.first
	default:
		b.join()
	}
	b.step++
	if b.each != nil {
		return b.deliver()
	}
	return nil
}

// join adds an instruction that waits for all of the current step so far.
func (b *builder) join() {
	j := Instr{Kind: JoinInstr, AfterSend: -1, Step: b.step, Node: -1, After: b.after.take(len(b.instrs) - b.first)}
	for i := range j.After {
		j.After[i] = b.first + i
	}
	b.ready = len(b.instrs)
	b.instrs = append(b.instrs, j)
}

// linkAfterSend gives each receive of the current step that is marked AfterSend (by a placeholder, -2) the send to the
// same peer that it follows.
func (b *builder) linkAfterSend() error {
	step := b.instrs[b.first:]
	for i := range step {
		if in := &step[i]; in.AfterSend == markedAfterSend {
			sends := 0
			for j := range step {
				if step[j].Kind == SendInstr && step[j].Peer == in.Peer {
					in.AfterSend = b.first + j
					sends++
				}
			}
			if sends != 1 {
				err := fmt.Errorf("it is marked AfterSend, but the step sends rank %d %d messages", in.Peer, sends)
				return &NodeError{b.a.FullName(), in.Node, b.rank, err}
			}
		}
	}
	return nil
}

const markedAfterSend = -2

// add appends in to the program, unless it moves nothing.
func (b *builder) add(in Instr) error {
	if in.isEmpty() {
		return nil
	}
	isLocal := in.Kind >= CopyInstr
	switch {
	case !isLocal && b.local >= 0:
		return errors.New("a send or receive is listed after a local action of the same step")
	case isLocal && b.local >= 0:
		in.After = b.after.one(b.local)
	case isLocal && len(b.instrs) > b.first:
		b.join()
		in.After = b.after.one(b.ready)
	case b.ready >= 0:
		in.After = b.after.one(b.ready)
	}
	if isLocal {
		b.local = len(b.instrs)
	}
	b.instrs = append(b.instrs, in)
	return nil
}

// isEmpty reports whether in speaks of a region of no chunks. An empty message, which names no region, is not empty.
func (in *Instr) isEmpty() bool {
	switch {
	case in.Kind == SendInstr:
		return in.Srcs[0].Buf != "" && in.Srcs[0].N == 0
	default:
		return in.Dst.Buf != "" && in.Dst.N == 0
	}
}
