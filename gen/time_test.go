package gen

import (
	"testing"

	"github.com/collgen/collgen/spec"
)

// plan is a Schedule of the given programs, of which only kinds, peers and dependences matter.
func plan(programs ...[]Instr) *Schedule {
	s := &Schedule{Params: Params{Size: len(programs), Depth: 1}, Chunks: 1}
	for _, p := range programs {
		s.Ranks = append(s.Ranks, Program{Instrs: p})
	}
	return s
}

func to(peer, chunks int, after ...int) Instr {
	return Instr{Kind: SendInstr, Peer: peer, Srcs: []Place{{Buf: spec.In, N: chunks}}, After: after}
}

func from(kind Kind, peer, chunks int, after ...int) Instr {
	return Instr{Kind: kind, Peer: peer, Dst: Place{Buf: spec.Out, N: chunks}, After: after}
}

func TestTime(t *testing.T) {
	const recv, recvReduce = RecvInstr, RecvReduceInstr
	price := Price{Alpha: 100, Beta: 10, Gamma: 1}
	for _, tc := range []struct {
		name string
		plan *Schedule
		want int
	}{
		{"nothing", plan(nil), 0},
		{"one message", plan([]Instr{to(1, 3)}, []Instr{from(recv, 0, 3)}), 130},
		{"an exchange", plan([]Instr{to(1, 1), from(recv, 1, 1)}, []Instr{to(0, 1), from(recv, 0, 1)}), 110},
		{"one port out", plan([]Instr{to(1, 1), to(2, 1)}, []Instr{from(recv, 0, 1)}, []Instr{from(recv, 0, 1)}), 220},
		{"one port in", plan([]Instr{from(recv, 1, 1), from(recv, 2, 1)}, []Instr{to(0, 1)}, []Instr{to(0, 1)}), 220},
		{"reduced after arrival", plan([]Instr{to(1, 3)}, []Instr{from(recvReduce, 0, 3)}), 133},
		{"one reduction at a time", plan([]Instr{
			{Kind: ReduceInstr, Srcs: make([]Place, 4), Dst: Place{N: 2}},
			{Kind: ReduceInstr, Srcs: make([]Place, 2), Dst: Place{N: 2}},
		}), 8},
		{"a reduction of one operand", plan([]Instr{{Kind: ReduceInstr, Srcs: make([]Place, 1), Dst: Place{N: 2}}}), 0},
		{"a chain", plan([]Instr{to(1, 1)}, []Instr{from(recv, 0, 1), to(2, 1, 0)}, []Instr{from(recv, 1, 1)}), 220},
		{"a receive that comes late", plan([]Instr{to(1, 1)}, []Instr{to(2, 1), from(recv, 0, 1, 0)}, []Instr{from(recv, 1, 1)}), 220},
		{"a message that goes ahead of one whose port is busy", plan([]Instr{to(2, 1)}, []Instr{to(2, 1), to(3, 1)},
			[]Instr{from(recv, 0, 1), from(recv, 1, 1)}, []Instr{from(recv, 1, 1)}), 220},
	} {
		if got, err := Time(tc.plan, price); err != nil || got != tc.want {
			t.Errorf("%s takes %d, %v, want %d", tc.name, got, err, tc.want)
		}
	}
}

func TestTimeOfWhatCannotEnd(t *testing.T) {
	for name, s := range map[string]*Schedule{
		"a message that nobody receives": plan([]Instr{to(1, 1)}, nil),
		"a receive of nothing":           plan([]Instr{from(RecvInstr, 1, 1)}, nil),
		"both receive first": plan(
			[]Instr{from(RecvInstr, 1, 1), to(1, 1, 0)}, []Instr{from(RecvInstr, 0, 1), to(0, 1, 0)}),
	} {
		if got, err := Measure(s); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMeasureCounts(t *testing.T) {
	s, err := Instantiate(&AllReduceTree, Params{Size: 5, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Measure(s)
	want := Measurement{Alpha: 6, Beta: 6, Gamma: 3, Steps: 6, Sent: 3, Received: 3, Total: 8}
	if err != nil || m != want {
		t.Errorf("got %+v, %v, want %+v", m, err, want)
	}
}
