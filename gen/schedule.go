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

	Local int // ranks on each host, see [spec.Local]; 0: they have no such number
}

// Env binds the parameters for rank: all of [Variables].
func (p Params) Env(rank int) spec.Env {
	return spec.Env{{Name: "rank", Value: rank}, {Name: "size", Value: p.Size}, {Name: "root", Value: p.Root},
		{Name: "peer", Value: p.Peer}, {Name: "depth", Value: p.Depth},
		{Name: "local", Value: p.Local}}
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
// Like is the index, modulo the chunks per block, of the chunk whose length the first one has. Where blocks are uneven,
// a place is one block, and Length identifies how long it is.
type Place struct {
	Buf   spec.Buf
	At, N int
	Like  int

	Length spec.Length `json:",omitzero"`
}

// Message is a Send and the receive that gets it: indices into the programs of two ranks.
type Message struct {
	From, Send int
	To, Recv   int
}

// Messages returns the messages of s that have both ends, by receiver and receive.
func (s *Schedule) Messages() []Message {
	type channel struct{ from, to, lane int }
	sends := map[channel][]int{}
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			if in := &s.Ranks[rank].Instrs[i]; in.Kind == SendInstr {
				c := channel{rank, in.Peer, in.Channel}
				sends[c] = append(sends[c], i)
			}
		}
	}
	var messages []Message
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			in := &s.Ranks[rank].Instrs[i]
			c := channel{in.Peer, rank, in.Channel}
			if in.Kind.IsReceive() && len(sends[c]) > 0 {
				messages = append(messages, Message{in.Peer, sends[c][0], rank, i})
				sends[c] = sends[c][1:]
			}
		}
	}
	return messages
}

// Cuts is how a call cuts its blocks, of Block elements each, into Chunks chunks: longer ones first, by one element.
type Cuts struct{ Block, Chunks int }

// Span returns where p lies in its buffer, in elements. What is in a slot of scratch begins with the slot.
func (c Cuts) Span(p Place) (from, to int) {
	if p.Buf != spec.Scratch {
		return c.upTo(p.At), c.upTo(p.At + p.N)
	}
	from = p.At * c.Slot()
	return from, from + c.Len(p)
}

// Len returns how many elements p has.
func (c Cuts) Len(p Place) int {
	if p.Buf != spec.Scratch {
		return c.upTo(p.At+p.N) - c.upTo(p.At)
	}
	return p.N * (c.upTo(p.Like+1) - c.upTo(p.Like)) // several slots are as long as blocks that are not cut
}

// Slot returns the length of a slot of scratch, in elements: that of the longest chunk.
func (c Cuts) Slot() int { return (c.Block + c.Chunks - 1) / c.Chunks }

// upTo returns the length of all chunks of a buffer before one.
func (c Cuts) upTo(chunk int) int {
	block, chunk := chunk/c.Chunks, chunk%c.Chunks
	return block*c.Block + chunk*(c.Block/c.Chunks) + min(chunk, c.Block%c.Chunks)
}

// String returns the place as people write it: out[3..5).
func (p Place) String() string {
	switch {
	case p.Buf == "":
		return "nothing"
	case p.N == 1:
		return fmt.Sprintf("%s[%d]", p.Buf, p.At)
	}
	return fmt.Sprintf("%s[%d..%d)", p.Buf, p.At, p.At+p.N)
}

// Len returns the length of a buffer in chunks, or of scratch in slots.
func (p *Program) Len(buf spec.Buf) int {
	switch buf {
	case spec.In:
		return p.In
	case spec.Out:
		return p.Out
	case spec.Scratch:
		return p.Scratch
	}
	return 0
}

// isEmpty reports whether in mentions a region of no chunks. An empty message, which names no region, is not empty.
func (in *Instr) isEmpty() bool {
	switch {
	case in.Kind == SendInstr:
		return in.Srcs[0].Buf != "" && in.Srcs[0].N == 0
	default:
		return in.Dst.Buf != "" && in.Dst.N == 0
	}
}

// ofSize binds what Requires.Size may mention.
func (p Params) ofSize() spec.Env {
	return spec.Env{{Name: spec.Size.Name, Value: p.Size}, {Name: spec.Local.Name, Value: p.Local}}
}
