package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/counterexample"
)

// limit bounds what a schedule may count: instructions, cells of memory, chunks that are moved. It keeps a hostile plan
// from taking the machine; our largest schedules are a hundredth of it.
const limit = 1 << 24

// Report is what was proved of one schedule.
type Report struct {
	Instrs   int        `json:"instructions"` // on all ranks
	Messages int        `json:"messages"`     // on all ranks
	Folds    bool       `json:"folds"`        // whether there are reductions, of which Order speaks
	Order    spec.Order `json:"order"`        // what their trees achieve
	// Capacity is the smallest number of messages that every channel may be limited to without a deadlock: 0 means
	// rendezvous. Channels finds out how many each single channel needs.
	Capacity int `json:"capacity"`
	// NeedsRoom tells whether the schedule needs more room than transports promise (ARCHITECTURE.md, "What a channel
	// promises"). What is received AfterSend needs a Capacity of 1, and no more room than that.
	NeedsRoom bool `json:"needsRoom"`
	Scratch   int  `json:"scratch"` // slots of scratch that the rank with the most of them has
	Used      int  `json:"used"`    // as many of these as are used
}

// checker checks one schedule at a time, in memory that it uses again for the next. Numbers that count things of all
// ranks are int32.
type checker struct {
	s      *gen.Schedule
	want   *spec.Expectation
	report Report

	// Of the schedule, from the pass shape. Instructions are numbered through all ranks.
	first  []int32 // by rank: its first instruction; one more at the end
	ins    []instr
	srcs   []span
	chunks int32

	// Of the messages, from the pass match. A slot is a pair of a send and the receive that takes its message.
	names    interner // of channels
	channel  []int32  // by channel: its first slot; one more at the end
	sends    []int32  // by slot
	recvs    []int32  // by slot
	graph    graph    // of events
	order    []int32  // all instructions, each after what it waits for, a receive after its send
	position []int32  // by instruction: where it stands in order
	prefix   []int32  // by instruction: so many of its rank's first instructions all end before it begins
	search   search

	// Of one mode, in place or out of place, from layout. Cells are the chunks and slots of all ranks' memory.
	inPlace bool
	base    [4][]int32 // by buffer and rank: its first cell
	cells   int32
	frozen  []bool // by cell: whether it has to stay as it was
	access  accesses

	writers []int32 // by cell: the instruction that wrote it last and 1 more, or 0; for checkSlots and checkLend

	trees  interner // of expressions, see tree.go
	mem    []int32  // by cell: the node that it holds
	sent   []int32  // the nodes in all messages
	sentAt []int32  // by slot: where in sent its message starts
	folds  folds
}

// accesses remembers, for each cell, the last write and all reads since then. As long as no race is found, they come
// after everything that happened to the cell before.
type accesses struct {
	writer []int32 // by cell: instruction, or -1
	reader []int32 // by cell: the latest read, an index of reads, or -1
	reads  []read
}

type read struct{ instr, earlier int32 }

// search answers the questions of order that prefixes leave open, exactly: by walking back from an instruction over
// everything that has to have happened when it begins, through other ranks too.
type search struct {
	marks []uint32 // by instruction: the round in which it was found, twice, and one more when it was found to have ended
	round uint32
	stack []int32 // events: twice the instruction, and one more if it has ended
	steps int     // how many more events may be looked at
}

// folds are the reductions that the primitive promises, each once for all ranks that are promised it.
type folds struct {
	list []fold
	next int // where to look first: the one after the last that was asked for

	leaves, stack, wanted []int32 // memory for judging one tree
}

type fold struct {
	terms []spec.Term
	trees []int32 // by chunk: the tree that the first rank holds, or -1
}

// instr is a gen.Instr with everything in reach.
type instr struct {
	kind          gen.Kind
	receivedFirst bool
	lend          bool
	rank          int32
	src, srcEnd   int32 // its sources, in srcs
	dst           span
	channel, slot int32 // of a message
	afterSend     int32 // the instruction, or -1
}

func (x *instr) isReceive() bool { return x.kind.IsReceive() }
func (x *instr) isMessage() bool { return x.kind == gen.SendInstr || x.isReceive() }

// span is a Place: n cells from the at-th of a buffer on.
type span struct{ buf, at, n int32 }

// The buffers' numbers in a span. The zero span is no data.
const (
	noBuf = iota
	inBuf
	outBuf
	scratchBuf
)

// source returns the instruction g as the schedule has it.
func (c *checker) source(g int32) *gen.Instr {
	r := c.ins[g].rank
	return &c.s.Ranks[r].Instrs[g-c.first[r]]
}

// failure returns a Failure at the instruction g, or at none for -1.
func (c *checker) failure(check Check, g int32) *Failure {
	f := newFailure(check, c.s.Algorithm, c.s.Primitive, c.s.Params)
	f.InPlace, f.schedule = c.inPlace, c.s
	if g >= 0 {
		f.locate(c.s, int(c.ins[g].rank), int(g-c.first[c.ins[g].rank]))
	}
	return f
}

// number returns the number of a buffer in a span, noBuf if there is no such buffer.
func number(b spec.Buf) int32 {
	switch b {
	case spec.In:
		return inBuf
	case spec.Out:
		return outBuf
	case spec.Scratch:
		return scratchBuf
	}
	return noBuf
}

func spanOf(p gen.Place) span { return span{number(p.Buf), int32(p.At), int32(p.N)} }

// name returns the instruction g in words, with its rank and step.
func (c *checker) name(g int32) string {
	in := c.source(g)
	return fmt.Sprintf("rank %d, step %d: %s", c.ins[g].rank, in.Step, counterexample.Text(in))
}

// involve says that instructions besides the one that f is about are wrong, or only together.
func (c *checker) involve(f *Failure, instrs ...int32) {
	for _, g := range instrs {
		rank := c.ins[g].rank
		f.involved = append(f.involved, counterexample.Instr{Rank: int(rank), Index: int(g - c.first[rank])})
	}
}
