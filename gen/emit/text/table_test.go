package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

func TestTable(t *testing.T) {
	op := func(in gen.Instr) gen.Instr { in.AfterSend = -1; return in }
	p := func(buf spec.Buf, at, n int) gen.Place { return gen.Place{Buf: buf, At: at, N: n} }
	send := func(step, peer int, src gen.Place) gen.Instr {
		return op(gen.Instr{Kind: gen.SendInstr, Step: step, Peer: peer, Srcs: []gen.Place{src}})
	}
	s := &gen.Schedule{Ranks: []gen.Program{
		{Instrs: []gen.Instr{
			send(0, 1, p(spec.In, 0, 2)),
			op(gen.Instr{Kind: gen.JoinInstr, Step: 0}),
			op(gen.Instr{Kind: gen.CopyInstr, Step: 0, Dst: p(spec.Out, 0, 1), Srcs: []gen.Place{p(spec.In, 0, 1)}}),
			send(1, 2, gen.Place{}),
		}},
		{Instrs: []gen.Instr{
			op(gen.Instr{Kind: gen.RecvInstr, Step: 0, Peer: 0, Dst: p(spec.Scratch, 1, 2)}),
			op(gen.Instr{Kind: gen.ReduceInstr, Step: 1, Dst: p(spec.Out, 0, 1),
				Srcs: []gen.Place{p(spec.Scratch, 1, 1), p(spec.Scratch, 2, 1), p(spec.Scratch, 3, 1)}}),
			op(gen.Instr{Kind: gen.ReduceInstr, Step: 1, Dst: p(spec.Out, 0, 1),
				Srcs: []gen.Place{p(spec.Scratch, 1, 1), p(spec.In, 2, 1)}}),
			send(2, 2, p(spec.Out, 0, 1)),
		}},
		{Instrs: []gen.Instr{
			op(gen.Instr{Kind: gen.RecvInstr, Step: 0, Peer: 0}),
			op(gen.Instr{Kind: gen.RecvReduceInstr, Step: 1, Peer: 1, Dst: p(spec.Out, 0, 1),
				Srcs: []gen.Place{p(spec.In, 0, 1)}}),
			op(gen.Instr{Kind: gen.FinishInstr, Step: 1, Dst: p(spec.Out, 0, 1)}),
		}},
		{},
	}}
	s.Ranks[2].Instrs[1].ReceivedFirst = true
	want := `round  rank 0           rank 1                          rank 2               rank 3
    0  in[0..2) → 1     scratch[1..3) ← 0
       out[0] = in[0]
    1  → 2              out[0] = ⊕ scratch[1..4)        ← 0
                        out[0] = scratch[1] ⊕ in[2]
    2                   out[0] → 2                      out[0] = ←1 ⊕ in[0]
                                                        finish out[0]
`
	if d := cmp.Diff(squeeze(want), squeeze(Table(s))); d != "" {
		t.Error(d, Table(s))
	}
	s.Ranks[2].Instrs[1].ReceivedFirst = false
	if !strings.Contains(Table(s), "out[0] = in[0] ⊕ ←1") {
		t.Error(Table(s))
	}
}

// squeeze makes the widths of columns not count.
func squeeze(table string) []string {
	var lines []string
	for line := range strings.Lines(table) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func TestTableIsCut(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.AllReduceOneShot, gen.Params{Size: 17, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(Table(s), "\n\n")
	if len(tables) < 3 {
		t.Errorf("17 ranks stand in %d tables", len(tables))
	}
	for line := range strings.Lines(Table(s)) {
		if n := utf8.RuneCountInString(line); n > tableWidth+1 {
			t.Errorf("a line of %d letters: %s", n, line)
		}
	}
	for _, head := range []string{"rank 0 ", "rank 16"} {
		if strings.Count(Table(s), head) != 1 {
			t.Errorf("%q does not occur once", head)
		}
	}
}

// TestTableOfWhatCannotEnd: two ranks that each wait for the other's later message have no rounds, but a table.
func TestTableOfWhatCannotEnd(t *testing.T) {
	wait := func(peer int) []gen.Instr {
		return []gen.Instr{
			{Kind: gen.RecvInstr, Peer: peer, Step: 0}, {Kind: gen.SendInstr, Peer: peer, Srcs: []gen.Place{{}}, Step: 1},
		}
	}
	if got := Table(&gen.Schedule{Ranks: []gen.Program{{Instrs: wait(1)}, {Instrs: wait(0)}}}); !strings.Contains(got,
		"← 1") {
		t.Error(got)
	}
}
