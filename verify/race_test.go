package verify_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// pair returns a schedule of two ranks that promises nothing.
func pair(rank0, rank1 []gen.Instr) *gen.Schedule { return byHand(nothing, rank0, rank1) }

// alone returns a schedule of one rank.
func alone(instrs ...gen.Instr) *gen.Schedule { return byHand(nothing, instrs) }

func TestRace(t *testing.T) {
	for _, x := range []handCase{
		{"two copies into one place, ordered", alone(move(out(0), in(0)), move(out(0), in(1), 0)), "", ""},
		{"two copies into one place, in no order", alone(move(out(0), in(0)), move(out(0), in(1))), verify.Race,
			verify.Race},
		{"a read and a write in no order", alone(move(out(0), in(1)), move(out(1), out(0))), verify.Race, verify.Race},
		{"a write after a read, in no order",
			alone(move(slot(0), in(0)), move(slot(1), slot(0), 0), move(slot(0), in(1), 0)), verify.Race, verify.Race},
		{"two reads need no order", alone(move(slot(0), in(0)), move(slot(1), in(0))), "", ""},
		{"ordered over a join",
			alone(move(slot(0), in(0)), move(slot(1), in(1)), join(0, 1), move(slot(0), slot(1), 2)), "", ""},
		{"ordered over a join that lists its instructions backwards",
			alone(move(slot(0), in(0)), move(slot(1), in(1)), join(1, 0), move(slot(0), slot(1), 2)), "", ""},
		{"ordered within each of two lanes",
			alone(move(slot(0), in(0)), move(slot(1), in(1)), move(slot(0), in(1), 0), move(slot(1), in(0), 1)), "", ""},
		{"across two lanes in no order",
			alone(move(slot(0), in(0)), move(slot(1), in(1)), move(slot(0), in(1), 1), move(slot(1), in(0), 0)),
			verify.Race, verify.Race},
		{"in place, Out is In", alone(move(slot(0), in(0)), move(out(0), in(1))), "", verify.Race},
		{"in place, Out is In, ordered", alone(move(slot(0), in(0)), move(out(0), in(1), 0)), "", ""},
		{"in place, a copy to itself is no write", alone(move(slot(0), in(0)), move(out(0), in(0))), "", ""},
		{"ordered through the other rank",
			pair([]gen.Instr{move(slot(0), in(0)), send(1, in(1), 0), recv(1, slot(1)), move(slot(0), slot(1), 2)},
				[]gen.Instr{recv(0, slot(0)), send(0, slot(0), 0)}), "", ""},
		{"the other rank answers too early",
			pair([]gen.Instr{move(slot(0), in(0)), send(1, in(1), 0), recv(1, slot(1)), move(slot(0), slot(1), 2)},
				[]gen.Instr{recv(0, slot(0)), send(0, in(0))}), verify.Race, verify.Race},
		{"an answer does not tell that the send has ended",
			pair([]gen.Instr{send(1, slot(0)), recv(1, slot(1)), move(slot(0), slot(1), 1)},
				[]gen.Instr{recv(0, slot(0)), send(0, slot(0), 0)}), verify.Race, verify.Race},
		{"the send has ended",
			pair([]gen.Instr{send(1, slot(0)), recv(1, slot(1)), move(slot(0), slot(1), 0, 1)},
				[]gen.Instr{recv(0, slot(0)), send(0, slot(0), 0)}), "", ""},
		{"a receive writes as long as it is in flight",
			pair([]gen.Instr{recv(1, slot(0)), move(slot(1), slot(0))}, []gen.Instr{send(0, in(0))}), verify.Race,
			verify.Race},
		{"what goes on has arrived",
			pair([]gen.Instr{recv(1, slot(0)), move(slot(1), slot(0), 0)}, []gen.Instr{send(0, in(0))}), "", ""},
		{"after a receive that follows a send, the send has ended",
			pair([]gen.Instr{send(1, slot(0)), afterSend(0, recv(1, slot(0))), move(slot(0), in(0), 1)},
				[]gen.Instr{recv(0, slot(1)), send(0, in(1))}), "", ""},
		{"ordered through the send that a receive follows",
			pair([]gen.Instr{move(slot(1), in(0)), send(1, slot(0), 0), afterSend(1, recv(1, slot(0))),
				move(slot(1), in(1), 2)},
				[]gen.Instr{recv(0, slot(1)), send(0, in(1))}), "", ""},
		{"AfterSend speaks of one send only",
			pair([]gen.Instr{send(1, slot(0)), send(1, slot(0)), afterSend(0, recv(1, slot(0)))},
				[]gen.Instr{recv(0, slot(0)), recv(0, slot(1)), send(0, in(1))}), verify.Race, verify.Race},
		{"AfterSend of a place that is shared only in place",
			pair([]gen.Instr{send(1, in(0)), afterSend(0, recv(1, out(0)))},
				[]gen.Instr{recv(0, slot(0)), send(0, in(1))}), "", ""},
	} {
		x.run(t)
	}
}

func TestAlias(t *testing.T) {
	span := func(buf spec.Buf, at, n int) gen.Place { return gen.Place{Buf: buf, At: at, N: n} }
	three := func(a, b, c gen.Place) []gen.Place { return []gen.Place{a, b, c} }
	overlap := func(dst, src int) *gen.Schedule {
		s := alone(move(span(spec.Scratch, dst, 2), span(spec.Scratch, src, 2)))
		s.Ranks[0].Scratch = 4
		return s
	}
	received := func(dst, with gen.Place) *gen.Schedule {
		s := pair([]gen.Instr{recvReduce(1, dst, with)}, []gen.Instr{send(0, span(spec.In, 0, 2))})
		s.Ranks[0].Scratch = 4
		return s
	}
	for _, x := range []handCase{
		{"a copy apart", overlap(0, 2), "", ""},
		{"a copy to the same place", overlap(1, 1), "", ""},
		{"a copy one slot up", overlap(1, 0), verify.Alias, verify.Alias},
		{"a copy one slot down", overlap(1, 2), verify.Alias, verify.Alias},
		{"a reduction into its first operand", alone(reduce(slot(0), three(slot(0), in(0), in(1)))), "", ""},
		{"a reduction into its second operand", alone(reduce(slot(0), three(in(0), slot(0), in(1)))), "", ""},
		{"a reduction into its third operand", alone(reduce(slot(0), three(in(0), in(1), slot(0)))), verify.Alias,
			verify.Alias},
		{"a reduction into its third operand in place", alone(reduce(out(1), three(slot(0), slot(0), in(1)))), "",
			verify.Alias},
		{"a receive over what it is reduced with", received(span(spec.Scratch, 0, 2), span(spec.Scratch, 0, 2)), "", ""},
		{"a receive over what it is reduced with, in part",
			received(span(spec.Scratch, 1, 2), span(spec.Scratch, 0, 2)), verify.Alias, verify.Alias},
		{"a receive that follows a shorter send, part by part", pair(
			[]gen.Instr{send(1, in(0)), afterSend(0, recv(1, span(spec.Scratch, 0, 2)))},
			[]gen.Instr{recv(0, slot(0)), send(0, span(spec.In, 0, 2))}), verify.Alias, verify.Alias},
	} {
		x.run(t)
	}
}

// TestShifted: Out may start at another block than In does.
func TestShifted(t *testing.T) {
	p := nothing
	p.InPlace = spec.InPlace{InBlock: one, OutBlock: zero} // Out's block 0 is In's block 1
	for _, x := range []handCase{
		{"the shared block", byHand(p, []gen.Instr{move(slot(0), in(1)), move(out(0), slot(1))}), "", verify.Race},
		{"a block that is Out's alone", byHand(p, []gen.Instr{move(slot(0), in(1)), move(out(1), slot(1))}), "", ""},
		{"a block that is In's alone", byHand(p, []gen.Instr{move(in(0), in(1))}), verify.Frame, verify.Frame},
		{"In's name for the shared block", byHand(p, []gen.Instr{move(in(1), in(0))}), verify.Frame, ""},
	} {
		x.run(t)
	}
	p.InPlace = spec.InPlace{InBlock: zero, OutBlock: one} // Out's block 1 is In's block 0
	for _, x := range []handCase{
		{"the shared block, before In", byHand(p, []gen.Instr{move(slot(0), in(0)), move(out(1), slot(1))}), "",
			verify.Race},
		{"a block before In", byHand(p, []gen.Instr{move(slot(0), in(0)), move(out(0), slot(1))}), "", ""},
	} {
		x.run(t)
	}
}
