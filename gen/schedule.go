package gen

import (
	"fmt"

	"github.com/collgen/collgen/spec"
)

// Schedule is an algorithm for one size, root and depth: for every rank, what it does, with all numbers filled in.
// Plans that others wrote are Schedules too.
type Schedule struct {
	Algorithm string // "allreduce/ring"
	Primitive spec.Primitive
	Requires  Requires
	Params
	Chunks int // chunks per block
	Ranks  []Program
}

// Params are the parameters of an instantiation.
type Params struct {
	Size, Root, Peer, Depth int
}

// Env binds the parameters for rank: rank, size, root, peer and depth.
func (p Params) Env(rank int) spec.Env {
	return spec.Env{{Name: "rank", Value: rank}, {Name: "size", Value: p.Size}, {Name: "root", Value: p.Root},
		{Name: "peer", Value: p.Peer}, {Name: "depth", Value: p.Depth}}
}

// Program is the part of one rank: a DAG of instructions, listed so that each comes after those it waits for.
type Program struct {
	In, Out, Scratch int // length of the buffers in chunks and slots; 0: the rank does not pass this buffer
	Instrs           []Instr
}

// ProgramStep is a step of a Program: messages that are in flight together, and what the rank does by itself when they
// are complete.
type ProgramStep struct {
	Number              int
	Sends, Recvs, Local []*Instr // in their order
}

// Steps returns the steps of p that do anything.
func (p *Program) Steps() (steps []ProgramStep) {
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Kind == JoinInstr {
			continue
		}
		if n := len(steps); n == 0 || steps[n-1].Number != in.Step {
			steps = append(steps, ProgramStep{Number: in.Step})
		}
		s := &steps[len(steps)-1]
		switch in.Kind {
		case SendInstr:
			s.Sends = append(s.Sends, in)
		case RecvInstr, RecvReduceInstr:
			s.Recvs = append(s.Recvs, in)
		default:
			s.Local = append(s.Local, in)
		}
	}
	return steps
}

// Instr is one instruction.
//
//	Send        sends Src to Peer
//	Recv        Dst = received from Peer
//	RecvReduce  Dst = Srcs[0] ⊕ received, or received ⊕ Srcs[0] when ReceivedFirst
//	Copy        Dst = Srcs[0]
//	Reduce      Dst = Srcs[0] ⊕ Srcs[1] ⊕ …, from left to right
//	Finish      Dst = what the op makes of Dst in the end
//	Join        nothing: it is there to be waited for
//
// A Send's data is Srcs[0]. The k-th Send to a peer on a channel is received by the peer's k-th receive from this rank
// on that channel.
type Instr struct {
	Kind          Kind
	Peer, Channel int
	Dst           Place
	Srcs          []Place
	ReceivedFirst bool
	// AfterSend is the index of the Send whose data this receive may overwrite part by part, each part after it was
	// sent; -1 if there is none.
	AfterSend int
	Lend      bool  // of a receive or a copy: only reductions of the same step read Dst, and may find the data elsewhere
	After     []int // indices of the instructions that have to be complete before this one starts
	Step      int   // the step it comes from, counted per rank from 0: for people and pictures
	Node      int   // index, in source order, of the action of the Algorithm that it comes from; -1 for Join
}

// Kind is the kind of an Instr.
type Kind uint8

// The kinds of instruction.
const (
	JoinInstr Kind = iota
	SendInstr
	RecvInstr
	RecvReduceInstr
	CopyInstr
	ReduceInstr
	FinishInstr
)

// String returns the kind's name: "send".
func (k Kind) String() string {
	names := [...]string{"join", "send", "recv", "recv-reduce", "copy", "reduce", "finish"}
	if int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// IsReceive reports whether an instruction of this kind receives a message.
func (k Kind) IsReceive() bool { return k == RecvInstr || k == RecvReduceInstr }

// Place is N consecutive chunks of a buffer from index At on; N is 0 for an empty message, and Buf is then "".
// Like is the index, modulo the chunks per block, of the chunk whose length the first one has.
type Place struct {
	Buf   spec.Buf
	At, N int
	Like  int
}
