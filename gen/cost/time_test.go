package cost_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/cost"
	"github.com/collgen/collgen/spec"
)

// plan returns a Schedule of the given programs, of which only kinds, peers and dependences matter.
func plan(programs ...[]gen.Instr) *gen.Schedule {
	s := &gen.Schedule{Params: gen.Params{Size: len(programs), Depth: 1}, Chunks: 1}
	for _, p := range programs {
		s.Ranks = append(s.Ranks, gen.Program{Instrs: p})
	}
	return s
}

func to(peer, chunks int, after ...int) gen.Instr {
	return gen.Instr{Kind: gen.SendInstr, Peer: peer, Srcs: []gen.Place{{Buf: spec.In, N: chunks}}, After: after}
}

func from(kind gen.Kind, peer, chunks int, after ...int) gen.Instr {
	return gen.Instr{Kind: kind, Peer: peer, Dst: gen.Place{Buf: spec.Out, N: chunks}, After: after}
}

func TestTime(t *testing.T) {
	const recv, recvReduce = gen.RecvInstr, gen.RecvReduceInstr
	price := cost.Price{Alpha: 100, Beta: 10, Gamma: 1}
	for _, tc := range []struct {
		name string
		plan *gen.Schedule
		want int
	}{
		{"nothing", plan(nil), 0},
		{"one message", plan([]gen.Instr{to(1, 3)}, []gen.Instr{from(recv, 0, 3)}), 130},
		{"an exchange", plan([]gen.Instr{to(1, 1), from(recv, 1, 1)}, []gen.Instr{to(0, 1), from(recv, 0, 1)}), 110},
		{"one port out", plan([]gen.Instr{to(1, 1), to(2, 1)}, []gen.Instr{from(recv, 0, 1)}, []gen.Instr{from(recv, 0, 1)}),
			220},
		{"one port in", plan([]gen.Instr{from(recv, 1, 1), from(recv, 2, 1)}, []gen.Instr{to(0, 1)}, []gen.Instr{to(0, 1)}),
			220},
		{"reduced after arrival", plan([]gen.Instr{to(1, 3)}, []gen.Instr{from(recvReduce, 0, 3)}), 133},
		{"one reduction at a time", plan([]gen.Instr{
			{Kind: gen.ReduceInstr, Srcs: make([]gen.Place, 4), Dst: gen.Place{N: 2}},
			{Kind: gen.ReduceInstr, Srcs: make([]gen.Place, 2), Dst: gen.Place{N: 2}},
		}), 8},
		{"a reduction of one operand",
			plan([]gen.Instr{{Kind: gen.ReduceInstr, Srcs: make([]gen.Place, 1), Dst: gen.Place{N: 2}}}), 0},
		{"a chain", plan([]gen.Instr{to(1, 1)}, []gen.Instr{from(recv, 0, 1), to(2, 1, 0)}, []gen.Instr{from(recv, 1, 1)}),
			220},
		{"a receive that comes late", plan([]gen.Instr{to(1, 1)}, []gen.Instr{to(2, 1), from(recv, 0, 1, 0)},
			[]gen.Instr{from(recv, 1, 1)}), 220},
		{"a message that goes ahead of one whose port is busy", plan([]gen.Instr{to(2, 1)}, []gen.Instr{to(2, 1), to(3, 1)},
			[]gen.Instr{from(recv, 0, 1), from(recv, 1, 1)}, []gen.Instr{from(recv, 1, 1)}), 220},
	} {
		if got, err := cost.Time(tc.plan, price); err != nil || got != tc.want {
			t.Errorf("%s takes %d, %v, want %d", tc.name, got, err, tc.want)
		}
	}
}

func TestTimeOfWhatCannotEnd(t *testing.T) {
	for name, s := range map[string]*gen.Schedule{
		"a message that nobody receives": plan([]gen.Instr{to(1, 1)}, nil),
		"a receive of nothing":           plan([]gen.Instr{from(gen.RecvInstr, 1, 1)}, nil),
		"both receive first": plan(
			[]gen.Instr{from(gen.RecvInstr, 1, 1), to(1, 1, 0)}, []gen.Instr{from(gen.RecvInstr, 0, 1), to(0, 1, 0)}),
	} {
		if got, err := cost.Measure(s); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMeasureCounts(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.AllReduceTree, gen.Params{Size: 5, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.Measure(s)
	want := cost.Measurement{Alpha: 6, Beta: 6, Gamma: 3, Steps: 6, Sent: 3, Received: 3, Total: 8}
	if err != nil || m != want {
		t.Errorf("got %+v, %v, want %+v", m, err, want)
	}
}
