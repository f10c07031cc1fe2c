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
		p.memory = append(p.memory, map[spec.Buf][]T{spec.In: in[r], spec.Out: out[r], spec.Scratch: slots})
	}
	return p.run()
}

// interpreter is the state of a run.
type interpreter[T any] struct {
	s        *gen.Schedule
	count    int
	arith    Arith[T]
	memory   []map[spec.Buf][]T // by rank
	messages map[message][]T    // sent and not yet received
	uneven   *uneven            // where blocks are uneven
}

// message is the seq-th message from one rank to another on a channel.
type message struct{ from, to, channel, seq int }

// location is an instruction of a rank.
type location struct{ rank, instr int }

// run executes instructions that are ready until none is.
func (p *interpreter[T]) run() error {
	waits, blocks, names := p.dependencies()
	var ready []location
	left := 0
	for r, prog := range p.s.Ranks {
		left += len(prog.Instrs)
		for i := range prog.Instrs {
			if waits[r][i] == 0 {
				ready = append(ready, location{r, i})
			}
		}
	}
	for ; len(ready) > 0; left-- {
		a := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		p.execute(a, names[a])
		for _, b := range blocks[a] {
			if waits[b.rank][b.instr]--; waits[b.rank][b.instr] == 0 {
				ready = append(ready, b)
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%s: %d instructions never become ready", p.s.Algorithm, left)
	}
	return nil
}

// dependencies counts what each instruction waits for, lists what waits for it, and names the message of each send and
// receive.
func (p *interpreter[T]) dependencies() (waits [][]int, blocks map[location][]location, names map[location]message) {
	blocks, names = map[location][]location{}, map[location]message{}
	sends, recvs := map[message]location{}, map[message]location{}
	sent, received := counter{}, counter{}
	waits = make([][]int, len(p.s.Ranks))
	edge := func(from, to location) {
		blocks[from] = append(blocks[from], to)
		waits[to.rank][to.instr]++
	}
	for r, prog := range p.s.Ranks {
		waits[r] = make([]int, len(prog.Instrs))
		for i, in := range prog.Instrs {
			for _, a := range in.After {
				edge(location{r, a}, location{r, i})
			}
			if in.AfterSend >= 0 {
				edge(location{r, in.AfterSend}, location{r, i})
			}
			switch in.Kind {
			case gen.SendInstr:
				name := sent.next(message{from: r, to: in.Peer, channel: in.Channel})
				sends[name], names[location{r, i}] = location{r, i}, name
			case gen.RecvInstr, gen.RecvReduceInstr:
				name := received.next(message{from: in.Peer, to: r, channel: in.Channel})
				recvs[name], names[location{r, i}] = location{r, i}, name
			}
		}
	}
	for name, to := range recvs {
		if from, ok := sends[name]; ok {
			edge(from, to)
		} else {
			waits[to.rank][to.instr]++ // forever
		}
	}
	return waits, blocks, names
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
	buf, chunks := p.memory[rank][place.Buf], p.s.Chunks
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
