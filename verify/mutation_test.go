package verify_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// drawSchedule returns a small schedule of some algorithm.
func drawSchedule(t *rapid.T) *gen.Schedule {
	catalogue := catalogue.Algorithms()
	a := catalogue[rapid.IntRange(0, len(catalogue)-1).Draw(t, "algorithm")]
	t.Log(a.FullName())
	size := rapid.IntRange(2, 6).Filter(a.Serves).Draw(t, "size")
	call := rapid.SampledFrom(a.Calls(size, 1, 2, 3)).Draw(t, "call")
	s, err := gen.Instantiate(&a, call)
	if err != nil {
		t.Fatal(err)
	}
	return edit.Clone(s)
}

// mutations are small changes of an instruction, most of which leave the schedule in good shape.
var mutations = []func(*rapid.T, *gen.Schedule, *gen.Program, *gen.Instr){
	func(_ *rapid.T, _ *gen.Schedule, _ *gen.Program, x *gen.Instr) { // dropped
		*x = gen.Instr{Kind: gen.JoinInstr, AfterSend: -1, After: x.After, Step: x.Step, Node: -1}
	},
	func(_ *rapid.T, _ *gen.Schedule, _ *gen.Program, x *gen.Instr) { x.ReceivedFirst = !x.ReceivedFirst },
	func(_ *rapid.T, _ *gen.Schedule, _ *gen.Program, x *gen.Instr) { x.AfterSend = -1 },
	func(_ *rapid.T, _ *gen.Schedule, _ *gen.Program, x *gen.Instr) { // no longer waits
		if len(x.After) > 0 {
			x.After = x.After[1:]
		}
	},
	func(t *rapid.T, _ *gen.Schedule, p *gen.Program, x *gen.Instr) { // waits for something else
		if i := position(p, x); i > 0 && len(x.After) > 0 {
			x.After[0] = rapid.IntRange(0, i-1).Draw(t, "after")
		}
	},
	func(t *rapid.T, s *gen.Schedule, _ *gen.Program, x *gen.Instr) { // another peer
		x.Peer = rapid.IntRange(0, s.Size-1).Draw(t, "peer")
	},
	func(t *rapid.T, s *gen.Schedule, p *gen.Program, x *gen.Instr) { shift(t, s, p, &x.Dst) },
	func(t *rapid.T, s *gen.Schedule, p *gen.Program, x *gen.Instr) {
		if len(x.Srcs) > 0 {
			shift(t, s, p, &x.Srcs[rapid.IntRange(0, len(x.Srcs)-1).Draw(t, "source")])
		}
	},
	func(_ *rapid.T, _ *gen.Schedule, _ *gen.Program, x *gen.Instr) { // store for reduce, reduce for store
		switch {
		case x.Kind == gen.RecvReduceInstr:
			x.Kind, x.Srcs = gen.RecvInstr, nil
		case x.Kind == gen.RecvInstr && x.Dst.N > 0:
			x.Kind, x.Srcs = gen.RecvReduceInstr, []gen.Place{x.Dst}
		}
	},
	func(t *rapid.T, _ *gen.Schedule, p *gen.Program, x *gen.Instr) { // exchanged with another
		y := &p.Instrs[rapid.IntRange(0, len(p.Instrs)-1).Draw(t, "other")]
		x.Kind, y.Kind, x.Peer, y.Peer, x.Dst, y.Dst, x.Srcs, y.Srcs = y.Kind, x.Kind, y.Peer, x.Peer, y.Dst,
			x.Dst, y.Srcs, x.Srcs
	},
	func(t *rapid.T, _ *gen.Schedule, p *gen.Program, x *gen.Instr) { // done once more at the end
		again := *x
		again.After, again.AfterSend = []int{len(p.Instrs) - 1}, -1
		p.Instrs = append(p.Instrs, again)
	},
}

// shift moves a place by as many chunks as keep its length, or into another buffer.
func shift(t *rapid.T, s *gen.Schedule, p *gen.Program, x *gen.Place) {
	if x.N == 0 {
		return
	}
	if rapid.Bool().Draw(t, "other buffer") {
		x.Buf = rapid.SampledFrom([]spec.Buf{spec.In, spec.Out, spec.Scratch}).Draw(t, "buffer")
	}
	x.At += rapid.SampledFrom([]int{0, -1, 1, s.Chunks, -s.Chunks}).Draw(t, "by")
	if n := p.Len(x.Buf); n >= x.N {
		x.At = max(0, min(x.At, n-x.N))
	}
	if x.Buf != spec.Scratch && x.At >= 0 {
		x.Like = x.At % s.Chunks
	}
}

// mutate changes one instruction of one rank.
func mutate(t *rapid.T, s *gen.Schedule) {
	p := &s.Ranks[rapid.IntRange(0, s.Size-1).Draw(t, "rank")]
	if len(p.Instrs) == 0 {
		return
	}
	x := &p.Instrs[rapid.IntRange(0, len(p.Instrs)-1).Draw(t, "instruction")]
	rapid.SampledFrom(mutations).Draw(t, "mutation")(t, s, p, x)
}

// TestMutants: however a schedule is mutated, the checker gives a report or an error.
func TestMutants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		for range rapid.IntRange(1, 20).Draw(t, "mutations") {
			mutate(t, s)
		}
		checkAll(s)
	})
}

// checkAll asks everything that there is to ask of a schedule, for the sake of not panicking.
func checkAll(s *gen.Schedule) {
	for _, inPlace := range []bool{false, true} {
		_, err := verify.Schedule(s, inPlace)
		var f *verify.Failure
		if errors.As(err, &f) {
			_, _ = f.SVG()
		}
		if err != nil {
			_ = err.Error()
		}
	}
	if _, err := verify.Channels(s); err != nil {
		_ = err.Error()
	}
}

// position returns x's index in its program.
func position(p *gen.Program, x *gen.Instr) int {
	for i := range p.Instrs {
		if &p.Instrs[i] == x {
			return i
		}
	}
	return -1
}
