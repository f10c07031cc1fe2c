// Package interp executes schedules on data, one instruction at a time: what a run of the schedule has to compute.
package interp

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Arith says how elements are reduced: Combine is ⊕, and Finish is applied to each result of an instruction Finish.
type Arith[T any] struct {
	Combine func(a, b T) T
	Finish  func(T) T
}

// Run executes s with blocks of count elements. in[r] and out[r] are the buffers of rank r; they may share memory where
// the primitive allows it. Every run of s on these inputs leaves the same bits in out. s should be proved: Run fails
// only if the buffers do not fit or s cannot end.
func Run[T any](s *gen.Schedule, count int, in, out [][]T, arith Arith[T]) error {
	p := &interpreter[T]{s: s, count: count, arith: arith, messages: map[message][]T{}}
	for r, prog := range s.Ranks {
		if len(in[r]) != prog.In/s.Chunks*count || len(out[r]) != prog.Out/s.Chunks*count {
			return fmt.Errorf("rank %d: buffers of %d and %d elements do not fit %s", r, len(in[r]), len(out[r]), s.Algorithm)
		}
		slots := make([]T, prog.Scratch*((count+s.Chunks-1)/s.Chunks))
		p.memory = append(p.memory, memory[T]{in[r], out[r], slots})
	}
	return p.run()
}

// interpreter is the state of a run.
type interpreter[T any] struct {
	s        *gen.Schedule
	count    int
	arith    Arith[T]
	memory   []memory[T]     // by rank
	messages map[message][]T // sent and not yet received
	uneven   *uneven         // where blocks are uneven
}

// memory is the buffers of a rank.
type memory[T any] struct{ in, out, scratch []T }

func (m *memory[T]) of(buf spec.Buf) []T {
	switch buf {
	case spec.In:
		return m.in
	case spec.Out:
		return m.out
	case spec.Scratch:
		return m.scratch
	}
	return nil
}

// message is the seq-th message from one rank to another on a channel.
type message struct{ from, to, channel, seq int }

// location is an instruction of a rank.
type location struct{ rank, instr int }

// run executes instructions that are ready until none is.
func (p *interpreter[T]) run() error {
	states := p.dependencies()
	var ready []location
	left := 0
	for r := range states {
		left += len(states[r])
		for i := range states[r] {
			if states[r][i].waits == 0 {
				ready = append(ready, location{r, i})
			}
		}
	}
	for ; len(ready) > 0; left-- {
		a := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		state := &states[a.rank][a.instr]
		p.execute(a, state.message)
		for _, b := range state.blocks {
			blocked := &states[b.rank][b.instr]
			if blocked.waits--; blocked.waits == 0 {
				ready = append(ready, b)
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%s: %d instructions never become ready", p.s.Algorithm, left)
	}
	return nil
}

// state is what an instruction waits for, and what it holds up.
type state struct {
	waits   int        // how many instructions have to be executed before it
	blocks  []location // which it is one of those for
	message message    // of a send or receive
}

// dependencies returns the state of each rank's instructions before the first one is executed.
func (p *interpreter[T]) dependencies() [][]state {
	states := make([][]state, len(p.s.Ranks))
	for r, prog := range p.s.Ranks {
		states[r] = make([]state, len(prog.Instrs))
	}
	edge := func(from, to location) {
		blocks := &states[from.rank][from.instr].blocks
		*blocks = append(*blocks, to)
		states[to.rank][to.instr].waits++
	}
	sends, recvs := map[message]location{}, map[message]location{}
	sent, received := counter{}, counter{}
	for r, prog := range p.s.Ranks {
		for i := range prog.Instrs {
			in, at := &prog.Instrs[i], location{r, i}
			for _, a := range in.After {
				edge(location{r, a}, at)
			}
			if in.AfterSend >= 0 {
				edge(location{r, in.AfterSend}, at)
			}
			name := &states[r][i].message
			switch in.Kind {
			case gen.SendInstr:
				*name = sent.next(message{from: r, to: in.Peer, channel: in.Channel})
				sends[*name] = at
			case gen.RecvInstr, gen.RecvReduceInstr:
				*name = received.next(message{from: in.Peer, to: r, channel: in.Channel})
				recvs[*name] = at
			}
		}
	}
	for name, to := range recvs {
		if from, ok := sends[name]; ok {
			edge(from, to)
		} else {
			states[to.rank][to.instr].waits++ // forever
		}
	}
	return states
}

// counter numbers the messages of each channel.
type counter map[message]int

func (c counter) next(m message) message {
	seq := c[m]
	c[m]++
	m.seq = seq
	return m
}

// execute executes one instruction.
func (p *interpreter[T]) execute(a location, m message) {
	in := &p.s.Ranks[a.rank].Instrs[a.instr]
	dst := p.elements(a.rank, in.Dst)
	switch in.Kind {
	case gen.SendInstr:
		p.messages[m] = slices.Clone(p.elements(a.rank, in.Srcs[0]))
	case gen.RecvInstr:
		copy(dst, p.messages[m])
		delete(p.messages, m)
	case gen.RecvReduceInstr:
		p.combine(dst, p.elements(a.rank, in.Srcs[0]), p.messages[m], in.ReceivedFirst)
		delete(p.messages, m)
	case gen.CopyInstr:
		copy(dst, p.elements(a.rank, in.Srcs[0]))
	case gen.ReduceInstr:
		sum := slices.Clone(p.elements(a.rank, in.Srcs[0]))
		for _, src := range in.Srcs[1:] {
			p.combine(sum, sum, p.elements(a.rank, src), false)
		}
		copy(dst, sum)
	case gen.FinishInstr:
		for i, x := range dst {
			dst[i] = p.arith.Finish(x)
		}
	}
}

func (p *interpreter[T]) combine(dst, with, received []T, receivedFirst bool) {
	for i := range dst {
		a, b := with[i], received[i]
		if receivedFirst {
			a, b = b, a
		}
		dst[i] = p.arith.Combine(a, b)
	}
}

// elements returns the elements of a place.
func (p *interpreter[T]) elements(rank int, place gen.Place) []T {
	buf, chunks := p.memory[rank].of(place.Buf), p.s.Chunks
	if p.uneven != nil && place.Buf != "" {
		return buf[p.uneven.start(rank, place):][:p.uneven.n(place.Length)]
	}
	if place.Buf == spec.Scratch {
		slot := (p.count + chunks - 1) / chunks
		from := place.At * slot
		if place.N == 1 {
			return buf[from : from+p.first(place.Like%chunks+1)-p.first(place.Like%chunks)]
		}
		return buf[from : from+place.N*slot]
	}
	return buf[p.offset(place.At):p.offset(place.At+place.N)]
}

// offset returns the first element of a chunk of In or Out.
func (p *interpreter[T]) offset(chunk int) int {
	return chunk/p.s.Chunks*p.count + p.first(chunk%p.s.Chunks)
}

// first returns the first element, within its block, of a block's chunk.
func (p *interpreter[T]) first(chunk int) int {
	short, longs := p.count/p.s.Chunks, p.count%p.s.Chunks
	return chunk*short + min(chunk, longs)
}
