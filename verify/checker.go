package verify

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

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

// Schedule proves s for calls in place or out of place. Its error is a *Failure, or says that the question is wrong:
// the primitive has no form in place, or refuses these parameters (*spec.RefusedError).
//
// Nothing is presumed of s: it may come from anywhere. A receive AfterSend may name any send to its peer here. A
// transport can tell which one it follows only where its step has one send to that peer, which gen.Instantiate checks.
func Schedule(s *gen.Schedule, inPlace bool) (Report, error) {
	var c checker
	if err := c.load(s); err != nil {
		return Report{}, err
	}
	if inPlace && !c.canBeInPlace() {
		return Report{}, fmt.Errorf("%s cannot be in place", s.Algorithm)
	}
	err := c.prove(inPlace)
	return c.report, err
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

	trees  interner // of expressions, see tree.go
	mem    []int32  // by cell: the node that it holds
	sent   []int32  // the nodes in all messages
	sentAt []int32  // by slot: where in sent its message starts
	folds  folds
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

func (x *instr) isReceive() bool { return isReceive(x.kind) }
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

// The passes, in order. Those in both are made once more in place, where addresses matter.
var (
	passes = []func(*checker) *Failure{(*checker).shape, (*checker).match, (*checker).deadlock, (*checker).entered}
	both   = []func(*checker) *Failure{(*checker).frame, (*checker).alias, (*checker).race, (*checker).results, (*checker).lend}
)

// load makes the passes that do not depend on whether the call is in place.
func (c *checker) load(s *gen.Schedule) error {
	c.s, c.report, c.inPlace = s, Report{}, false
	err := c.tooLarge()
	if err != nil {
		return err
	}
	c.want, err = spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	var refused *spec.RefusedError
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return c.noProgram(err)
	}
	return c.pass(passes)
}

// tooLarge refuses, before it takes memory, what its own numbers do not bear out.
func (c *checker) tooLarge() error {
	f := c.failure(Shape, -1)
	if c.s.Size != len(c.s.Ranks) {
		f.Got = fmt.Sprintf("programs of %d ranks, for %d", len(c.s.Ranks), c.s.Size)
		return f
	}
	blocks := 0
	for rank := range c.s.Ranks {
		for _, b := range []spec.Buffer{c.s.Primitive.In, c.s.Primitive.Out} {
			n, err := b.Len(c.s.Env(rank))
			if err != nil {
				return c.noProgram(err)
			}
			if blocks += n; n < 0 || n > limit || blocks > limit {
				f.Got = fmt.Sprintf("rank %d has %d blocks", rank, n)
				return f
			}
		}
	}
	return nil
}

func (c *checker) noProgram(err error) *Failure {
	f := c.failure(Program, -1)
	f.Got, f.Err = err.Error(), err
	return f
}

// prove makes the remaining passes, and completes the report.
func (c *checker) prove(inPlace bool) error {
	c.layout(inPlace)
	c.search.steps = max(searchSteps, searchStepsEach*len(c.ins))
	return c.pass(both)
}

func (c *checker) pass(list []func(*checker) *Failure) error {
	for _, pass := range list {
		if f := pass(c); f != nil {
			return f
		}
	}
	return nil
}

// canBeInPlace reports whether some rank can use one memory for In and Out.
func (c *checker) canBeInPlace() bool {
	if c.s.Requires.OutOfPlace {
		return false
	}
	for _, r := range c.want.Ranks {
		if r.InBlock >= 0 {
			return true
		}
	}
	return false
}

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
		f.at(c.s, int(c.ins[g].rank), int(g-c.first[c.ins[g].rank]))
	}
	return f
}

// at says that f is about an instruction.
func (f *Failure) at(s *gen.Schedule, rank, instr int) {
	in := &s.Ranks[rank].Instrs[instr]
	f.Rank, f.Instr, f.Step, f.Node = rank, instr, in.Step, in.Node
	f.Trace = picture(s, rank, instr)
}
