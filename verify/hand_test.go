package verify_test

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// Short names for expressions.
var (
	zero, one, two = spec.Int(0), spec.Int(1), spec.Int(2)
)

// Schedules made by hand, as small as the check in question allows.

// byHand returns a schedule of p with one chunk in a block, and two slots of scratch on each rank.
func byHand(p spec.Primitive, programs ...[]gen.Instr) *gen.Schedule {
	s := &gen.Schedule{Algorithm: "by hand", Primitive: p, Params: gen.Params{Size: len(programs), Depth: 1}, Chunks: 1}
	for rank, instrs := range programs {
		in, _ := p.In.Len(s.Env(rank))
		out, _ := p.Out.Len(s.Env(rank))
		s.Ranks = append(s.Ranks, gen.Program{In: in, Out: out, Scratch: 2, Instrs: instrs})
	}
	return s
}

// nothing is a primitive that promises nothing: what only moves messages is right for it. Each rank passes two blocks
// in and two blocks out, which may be the same memory.
var nothing = spec.Primitive{
	Name: "Nothing", In: spec.Buffer{Blocks: two}, Out: spec.Buffer{Blocks: two},
	Pre:     []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},
	Post:    []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Undefined}}},
	InPlace: spec.InPlace{InBlock: zero, OutBlock: zero},
}

func in(at int) gen.Place   { return gen.Place{Buf: spec.In, At: at, N: 1} }
func out(at int) gen.Place  { return gen.Place{Buf: spec.Out, At: at, N: 1} }
func slot(at int) gen.Place { return gen.Place{Buf: spec.Scratch, At: at, N: 1} }

func send(to int, data gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.SendInstr, Peer: to, Srcs: []gen.Place{data}, AfterSend: -1, After: after}
}

func recv(from int, into gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.RecvInstr, Peer: from, Dst: into, AfterSend: -1, After: after}
}

func recvReduce(from int, into, with gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.RecvReduceInstr, Peer: from, Dst: into, Srcs: []gen.Place{with}, AfterSend: -1,
		After: after}
}

func move(into, from gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.CopyInstr, Dst: into, Srcs: []gen.Place{from}, AfterSend: -1, After: after}
}

func reduce(into gen.Place, operands []gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.ReduceInstr, Dst: into, Srcs: operands, AfterSend: -1, After: after}
}

func finish(data gen.Place, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.FinishInstr, Dst: data, AfterSend: -1, After: after}
}

func join(after ...int) gen.Instr { return gen.Instr{Kind: gen.JoinInstr, AfterSend: -1, After: after} }

func on(channel int, in gen.Instr) gen.Instr {
	in.Channel = channel
	return in
}

func afterSend(s int, in gen.Instr) gen.Instr {
	in.AfterSend = s
	return in
}

// checkOf returns the check that s fails, "" if it is proved.
func checkOf(t *testing.T, s *gen.Schedule, inPlace bool) verify.Check {
	t.Helper()
	_, err := verify.Schedule(s, inPlace)
	var f *verify.Failure
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &f):
		t.Fatal(err)
	}
	t.Log(err)
	return f.Check
}

// handCase is a schedule and the checks that it fails, "" where it fails none.
type handCase struct {
	name                string
	s                   *gen.Schedule
	outOfPlace, inPlace verify.Check
}

func (x handCase) run(t *testing.T) {
	t.Run(x.name, func(t *testing.T) {
		if got := checkOf(t, x.s, false); got != x.outOfPlace {
			t.Errorf("out of place it fails %q, want %q", got, x.outOfPlace)
		}
		if got := checkOf(t, x.s, true); got != x.inPlace {
			t.Errorf("in place it fails %q, want %q", got, x.inPlace)
		}
	})
}
