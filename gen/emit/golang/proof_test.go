package golang

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// TestLimits: calls are refused beyond what was proved of every pair, and at every depth from 1 on.
func TestLimits(t *testing.T) {
	sizes := []int{1, 2, 4, 8, 16}
	for _, x := range []struct {
		p             Proof
		sizes, depths int
		words         string
	}{
		{Proof{}, 0, 0, "0 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1}}, 16, 0, "16 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1}, Sampled: 9}, 8, 0, "8 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1, 2, 3, 7}}, 16, 3, "16 ranks or depth 3"},
		{Proof{Sizes: sizes, Depths: []int{1, 2}, Deeper: []int{3, 4}, Few: 8}, 16, 2, "16 ranks or depth 2"},
		{Proof{Sizes: sizes, Depths: []int{2, 3}}, 16, 0, "16 ranks"},
	} {
		if sizes, depths := x.p.UpTo(); sizes != x.sizes || depths != x.depths || x.p.Limits() != x.words {
			t.Errorf("%+v: %d, %d, %s", x.p, sizes, depths, x.p.Limits())
		}
	}
	deeper := Proof{Sizes: sizes, Depths: []int{1, 2}, Deeper: []int{3, 4, 5}, Few: 8}.words(spec.AllReduce)
	if !strings.Contains(deeper, "depths 1, 2 (up to size 8 also 3..5)") ||
		!strings.Contains(deeper, "Calls beyond 16 ranks or depth 2 are refused") {
		t.Error(deeper)
	}
}

// TestCostWords says nothing of what is not declared.
func TestCostWords(t *testing.T) {
	for _, test := range []struct {
		cost gen.Cost
		want string
	}{
		{gen.Cost{}, ""},
		{gen.Cost{Beta: n}, "Cost on the critical path: size chunks sent; a block has size chunks."},
		{gen.Cost{Alpha: i(1), Beta: n, Gamma: i(0)},
			"Cost on the critical path: 1 messages, size chunks sent, 0 chunks reduced; a block has size chunks."},
	} {
		if got := costWords(&gen.Algorithm{Chunks: n, Cost: test.cost}); got != test.want {
			t.Errorf("%+v is %q, want %q", test.cost, got, test.want)
		}
	}
}

// TestInduction says what was proved for every size, and nothing where nothing was.
func TestInduction(t *testing.T) {
	p := Proof{Sizes: []int{1, 2}, Depths: []int{1, 3}, Schedules: 4}
	if got := p.words(spec.Broadcast); strings.Contains(got, "induction") {
		t.Errorf("nothing was proved by induction: %q", got)
	}
	p.Every = Induction{Sizes: "1..2^31", Obligations: 5, Solvers: []string{"z3", "cvc5"}}
	want := " By induction over steps, for sizes 1..2^31, all roots, all depths, while sizes and products fit an int: " +
		"what the primitive promises holds, no two accesses race, and the call ends in every interleaving, even if no " +
		"channel has room for a message; 5 obligations, each proved by z3 and by cvc5."
	if got := p.words(spec.Broadcast); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
	p.Every.lends, p.Every.segment = true, true
	if got := p.words(spec.Broadcast); !strings.Contains(got, "no two accesses race, what is lent is read by") {
		t.Errorf("that loans are proved is not said: %q", got)
	}
	if got := p.words(spec.Broadcast); !strings.Contains(got, "even if no channel has room for more than a segment of a "+
		"message; 5 obligations") {
		t.Errorf("what room is needed is not said: %q", got)
	}
}
