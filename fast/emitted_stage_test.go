package fast

import (
	"fmt"
	"iter"
	"slices"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/gen"
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
		a.comm = newComm(rank, size, a)
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
	steps   [][]gen.ProgramStep // by rank
	buffers []buffersOf
	count   int
	inPlace bool
}

// buffersOf says what a rank passes: how many blocks, and where In lies in Out if both share memory.
type buffersOf struct{ in, out, aliasIn, aliasOut int }

// String returns the call, as errors name it.
func (e *emittedCall) String() string {
	return fmt.Sprintf("%s, %d ranks, root %d, peer %d, depth %d, count %d, in place: %v", e.a.FullName(), e.s.Size, e.s.Root, e.s.Peer,
		e.s.Depth, e.count, e.inPlace)
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
