package cost_test

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/cost"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
)

// TestDoubleTreeCost: no formula of size says what the double tree costs, but this is what it costs for some sizes.
// With 16 pieces in each half a chunk is the 32nd part of the block, and nobody sends more than two blocks.
func TestDoubleTreeCost(t *testing.T) {
	a := catalogue.AllReduceDoubleTree.Members()[0]
	for size, want := range map[int]cost.Measurement{
		2:  {Alpha: 33, Beta: 33, Gamma: 17, Steps: 33, Sent: 32, Received: 32, Total: 64},
		12: {Alpha: 99, Beta: 99, Gamma: 42, Steps: 42, Sent: 64, Received: 64, Total: 704},
		64: {Alpha: 113, Beta: 113, Gamma: 50, Steps: 48, Sent: 64, Received: 64, Total: 4032},
	} {
		s, err := gen.Instantiate(&a, gen.Params{Size: size, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cost.Measure(s); err != nil || got != want {
			t.Errorf("size %d: %+v, %v; want %+v", size, got, err, want)
		}
	}
}

// TestDeclaredCost compares what every algorithm declares with what its schedules measure, for all sizes; above 16
// ranks for some of the roots and for depth 1 alone. The race detector, which has nothing to find here, gets fewer
// sizes.
func TestDeclaredCost(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		t.Run(a.FullName(), func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= 64; size++ {
				if raceDetector && size > 16 && size%11 > 0 {
					continue
				}
				for _, p := range a.Calls(size, 1, 3) {
					if size <= 16 || p.Depth == 1 && (p.Root == 0 || p.Root == 13 || p.Root == size-1) && p.Peer < 2 {
						checkCost(t, &a, p)
					}
				}
			}
		})
	}
}

// withoutBeta are algorithms of which no formula over the size says how much they send. Along a k-nomial tree it
// depends on the root which part is smaller than others. If rank 0 is the root, it is the last one.
var withoutBeta = []string{"alltoall/bruck", "gather/k-nomial-4", "gather/k-nomial-8", "scatter/k-nomial-4",
	"scatter/k-nomial-8"}

func checkCost(t *testing.T, a *gen.Algorithm, p gen.Params) {
	s, err := gen.Instantiate(a, p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.Measure(s)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	declared := a.Cost
	if declared.Beta.IsAbsent() && slices.Contains(withoutBeta, a.FullName()) {
		declared.Beta = spec.Int(m.Beta)
		if a.DeclaredName() == catalogue.GatherKNomial.Name && p.Root == 0 {
			declared.Beta = spec.Int(p.Size - 1)
		}
	}
	if a.DeclaredName() == catalogue.AllReduceDoubleTree.Name { // TestDoubleTreeCost
		declared.Alpha, declared.Beta = spec.Int(m.Alpha), spec.Int(m.Beta)
	}
	alpha, beta, gamma, err := declared.Eval(p)
	if err != nil || alpha != m.Alpha || beta != m.Beta || gamma != m.Gamma {
		t.Errorf("%+v: declared %d, %d, %d, measured %+v, %v", p, alpha, beta, gamma, m, err)
	}
}
