package verify

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// TestCycleOfMoves: in a ring of four messages, each of which follows the next, nothing but that they move waits for
// each other. It is shown by their receives and sends.
func TestCycleOfMoves(t *testing.T) {
	s := &gen.Schedule{Algorithm: "by hand", Primitive: spec.Barrier, Params: gen.Params{Size: 2, Depth: 1}, Chunks: 1}
	message := func(kind gen.Kind, peer, channel, after int) gen.Instr {
		in := gen.Instr{Kind: kind, Peer: peer, Channel: channel, AfterSend: after}
		if kind == gen.SendInstr {
			in.Srcs = []gen.Place{{}}
		}
		return in
	}
	for rank := range 2 {
		peer := 1 - rank
		after := []int{0, 1} // on rank 1, each message follows the one that rank 0 receives on its channel
		if rank == 0 {
			after = []int{1, 0} // and there, that on the other channel
		}
		s.Ranks = append(s.Ranks, gen.Program{Instrs: []gen.Instr{
			message(gen.SendInstr, peer, 0, -1), message(gen.SendInstr, peer, 1, -1),
			message(gen.RecvInstr, peer, 0, after[0]), message(gen.RecvInstr, peer, 1, after[1]),
		}})
	}
	var c checker
	if err := c.load(s); err != nil {
		t.Fatal(err)
	}
	f := c.needsRoom()
	if f == nil || f.Check != Room {
		t.Fatalf("got %v", f)
	}
	for words, want := range map[string]int{"overwrites what is first to be sent by": 4,
		"cannot end before its message is received by": 4} {
		if n := strings.Count(f.Trace, words); n != want {
			t.Errorf("%d times %q, want %d:\n%s", n, words, want, f.Trace)
		}
	}
}
