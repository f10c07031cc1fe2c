package verify

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// tangled returns a lane that writes slots by turns, beside an instruction of another lane that no prefix gets past:
// what wrote a slot before is found by a search of as many steps as there are slots.
func tangled(instrs, slots int) *gen.Schedule {
	p := spec.Primitive{Name: "Nothing"}
	s := &gen.Schedule{Algorithm: "tangled", Primitive: p, Params: gen.Params{Size: 1, Depth: 1}, Chunks: 1}
	prog := gen.Program{Scratch: slots, Instrs: []gen.Instr{{AfterSend: -1}}}
	for i := 1; i < instrs; i++ {
		x := gen.Instr{Kind: gen.FinishInstr, Dst: gen.Place{Buf: spec.Scratch, At: i % slots, N: 1}, AfterSend: -1}
		if i > 1 {
			x.After = []int{i - 1}
		}
		prog.Instrs = append(prog.Instrs, x)
	}
	s.Ranks = []gen.Program{prog}
	return s
}

// TestSearchLimit: a search ends, and a schedule in which it has to end early is refused, not called a race.
func TestSearchLimit(t *testing.T) {
	var c checker
	if err := c.load(tangled(200, 20)); err != nil {
		t.Fatal(err)
	}
	if err := c.prove(false); err != nil {
		t.Error(err)
	}
	c.search.steps = 1000
	var f *Failure
	if err := c.pass(both); !errors.As(err, &f) || f.Check != Shape {
		t.Errorf("got %v", err)
	}
}
