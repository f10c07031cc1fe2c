package emittest

import (
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/internal/events"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
)

// stage has the ranks of a communicator make calls on symbols, one after the other. Each rank is a coroutine: it runs
// until it waits for a message that was not sent.
type stage struct {
	size     int
	actors   []*actor
	mail     [][]letter // by sender × size + receiver
	ready    []int      // ranks that can go on
	events   int        // sends, receives and local actions that were compared, in all calls
	messages int        // sends and receives alone
}

// letter is a message: what the code has sent, and what the schedule sends then.
type letter struct{ got, want []uint64 }

func newStage(size int) *stage {
	g := &stage{size: size, mail: make([][]letter, size*size)}
	for rank := range size {
		a := &actor{stage: g, rank: rank, waits: -1}
		a.comm = access.Fast.CommOver(rank, size, a).(*fast.Comm)
		g.actors = append(g.actors, a)
	}
	return g
}

// send leaves a letter, and wakes the receiver if it waits for that.
func (g *stage) send(from, to int, l letter) {
	g.mail[from*g.size+to] = append(g.mail[from*g.size+to], l)
	if g.actors[to].waits == from {
		g.actors[to].waits = -1
		g.ready = append(g.ready, to)
	}
}

// receive takes a letter. It waits for one.
func (g *stage) receive(from, to int) (letter, bool) {
	box := &g.mail[from*g.size+to]
	for len(*box) == 0 {
		a := g.actors[to]
		a.waits = from
		if !a.yield(struct{}{}) {
			return letter{}, false
		}
	}
	l := (*box)[0]
	*box = (*box)[1:]
	return l, true
}

// emittedCall is one call of a generated function, and its schedule.
type emittedCall struct {
	a       *gen.Algorithm
	k       *exec.Collective // that has the function, and nothing else
	s       *gen.Schedule
	expect  *spec.Expectation
	steps   [][]gen.ProgramStep // by rank
	buffers []buffersOf
	count   int
	inPlace bool
}

// buffersOf says what a rank passes: how many blocks, and where In lies in Out if both share memory.
type buffersOf struct{ in, out, aliasIn, aliasOut int }

// String returns the call, as errors name it.
func (e *emittedCall) String() string {
	return fmt.Sprintf("%s, %d ranks, root %d, peer %d, depth %d, %d on each host, count %d, in place: %v", e.a.FullName(),
		e.s.Size, e.s.Root, e.s.Peer,
		e.s.Depth, e.s.Local, e.count, e.inPlace)
}

// perform makes the call on all ranks that take part, and gives the first difference to the schedule; "" if there is
// none.
func (g *stage) perform(e *emittedCall) string {
	syms := newSymbols(g.size)
	g.ready = g.ready[:0]
	var stops []func()
	nexts := make([]func() (struct{}, bool), g.size)
	for rank, a := range g.actors {
		if !e.takesPart(rank) {
			continue
		}
		a.begin(e, syms)
		var stop func()
		nexts[rank], stop = iter.Pull(a.play)
		stops = append(stops, stop)
		g.ready = append(g.ready, rank)
	}
	running := len(g.ready)
	for len(g.ready) > 0 {
		rank := g.ready[0]
		g.ready = g.ready[1:]
		if _, more := nexts[rank](); !more {
			running--
		}
		if fault := g.actors[rank].fault; fault != "" {
			running = 0
			g.stop(stops)
			return fmt.Sprintf("%v:\nrank %d, %s", e, rank, fault)
		}
	}
	if running > 0 {
		fault := g.deadlock()
		g.stop(stops)
		return fmt.Sprintf("%v:\n%s", e, fault)
	}
	if i := slices.IndexFunc(g.mail, func(box []letter) bool { return len(box) > 0 }); i >= 0 {
		return fmt.Sprintf("%v:\nrank %d never receives a message of rank %d", e, i%g.size, i/g.size)
	}
	return ""
}

// stop ends all ranks, and forgets their letters.
func (g *stage) stop(all []func()) {
	for _, stop := range all {
		stop()
	}
	clear(g.mail)
}

// deadlock says who waits for whom.
func (g *stage) deadlock() (words string) {
	for _, a := range g.actors {
		if a.waits >= 0 {
			words += fmt.Sprintf("rank %d waits for rank %d for ever, in step %d\n", a.rank, a.waits, a.last)
		}
	}
	return words
}

// symbols makes elements: equal expressions are equal numbers. All numbers that it makes are multiples of size, so that
// the one division by size that finishes an average turns a reduction into something else, and tells it apart from all
// that are not finished, or finished twice.
type symbols struct {
	size  uint64
	trees map[[2]uint64]uint64
	next  uint64
}

func newSymbols(size int) *symbols {
	return &symbols{size: uint64(size), trees: map[[2]uint64]uint64{}, next: 1 << 40}
}

func (s *symbols) leaf() uint64 {
	s.next++
	return s.next * s.size
}

func (s *symbols) combine(a, b uint64) uint64 {
	tree, ok := s.trees[[2]uint64{a, b}]
	if !ok {
		tree = s.leaf()
		s.trees[[2]uint64{a, b}] = tree
	}
	return tree
}

// kernel is ⊕ on symbols.
func (s *symbols) kernel(dst, a, b []byte) { s.combineAll(uint64s(dst), uint64s(a), uint64s(b)) }

func (s *symbols) combineAll(dst, a, b []uint64) {
	for i := range dst {
		dst[i] = s.combine(a[i], b[i])
	}
}

// fill makes n elements that are different from all others.
func (s *symbols) fill(n int) []uint64 {
	b := make([]uint64, n)
	for i := range b {
		b[i] = s.leaf()
	}
	return b
}

func uint64s(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// shadow is a rank's memory as the schedule has it, next to that of the code.
type shadow struct {
	syms             *symbols
	cuts             gen.Cuts
	uneven           *unevenBlocks // nil: blocks are equally long, and cuts says where they lie
	in, out, scratch []uint64
	finishes         bool // the primitive takes an op, which here divides in the end
}

// span returns where a place lies in its buffer, in elements.
func (s *shadow) span(p gen.Place) (from, to int) {
	if s.uneven != nil {
		return s.uneven.span(p)
	}
	return s.cuts.Span(p)
}

// slots returns the length of so many slots of scratch, in elements.
func (s *shadow) slots(n int) int {
	if s.uneven != nil {
		return n * s.uneven.longest
	}
	return n * s.cuts.Slot()
}

// starts returns where blocks of in and out begin.
func (s *shadow) starts(in, out int) (int, int) {
	if s.uneven != nil {
		return total(s.uneven.in[:in]), total(s.uneven.out[:out])
	}
	return in * s.cuts.Block, out * s.cuts.Block
}

// at returns the elements of a place.
func (s *shadow) at(p gen.Place) []uint64 {
	switch from, to := s.span(p); p.Buf {
	case "in":
		return s.in[from:to]
	case "out":
		return s.out[from:to]
	case "scratch":
		return s.scratch[from:to]
	}
	return nil
}

// receive carries out a receive of these elements.
func (s *shadow) receive(in *gen.Instr, got []uint64) {
	dst := s.at(in.Dst)
	switch {
	case in.Kind == gen.RecvInstr:
		copy(dst, got)
	case in.ReceivedFirst:
		s.syms.combineAll(dst, got, s.at(in.Srcs[0]))
	default:
		s.syms.combineAll(dst, s.at(in.Srcs[0]), got)
	}
}

// perform carries out a local instruction.
func (s *shadow) perform(in *gen.Instr) {
	dst := s.at(in.Dst)
	switch in.Kind {
	case gen.CopyInstr:
		copy(dst, s.at(in.Srcs[0]))
	case gen.ReduceInstr:
		sum := append([]uint64(nil), s.at(in.Srcs[0])...)
		for _, src := range in.Srcs[1:] {
			s.syms.combineAll(sum, sum, s.at(src))
		}
		copy(dst, sum)
	case gen.FinishInstr:
		for i := range dst {
			if s.finishes {
				dst[i] /= s.syms.size
			}
		}
	}
}

// eventLines says what a step does, each event a line, in their order.
func eventLines(sends []wire.Send, recvs []wire.Recv, x *exec.Call) (lines []string) {
	for _, s := range sends {
		lines = append(lines, fmt.Sprintf("send to %d: %s", s.Peer, placeWords(x.PlaceOf(s.Data))))
	}
	for _, r := range recvs {
		line := fmt.Sprintf("receive from %d into %s", r.Peer, placeWords(x.PlaceOf(r.Into)))
		if r.Kernel != nil {
			line += fmt.Sprintf(", reduced with %s, received first: %v", placeWords(x.PlaceOf(r.With)), r.ReceivedFirst)
		}
		lines = append(lines, fmt.Sprintf("%s, after send: %v, lent: %v", line, r.AfterSend, r.Lend))
	}
	return lines
}

func placeWords(p events.Place) string {
	if p.Bytes == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s[%d:%d]", p.Buf, p.At/8, (p.At+p.Bytes)/8)
}

// firstDifference names the first event that is not the schedule's, and the one that is.
func firstDifference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	event := func(lines []string) string {
		if i < len(lines) {
			return lines[i]
		}
		return "nothing more"
	}
	return fmt.Sprintf("event %d of the code is\n  %s\nof the schedule\n  %s", i, event(got), event(want))
}

// words returns an element as an expression, of a few levels.
func (s *symbols) words(x uint64) string { return s.expression(x, 3) }

func (s *symbols) expression(x uint64, levels int) string {
	if x%s.size != 0 || x/s.size <= 1<<40 && x != 0 {
		return fmt.Sprintf("(%s finished)", s.expression(x*s.size, levels))
	}
	for operands, tree := range s.trees {
		if tree != x {
			continue
		}
		if levels == 0 {
			return "(…)"
		}
		return fmt.Sprintf("(%s ⊕ %s)", s.expression(operands[0], levels-1), s.expression(operands[1], levels-1))
	}
	return fmt.Sprintf("x%d", x/s.size-1<<40)
}
