package catalogue

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// TestNoAlgorithmBeatsTheBound also checks that each part of each bound is reached by some algorithm with some depth,
// as far as one is known: a bound that is too low says nothing.
func TestNoAlgorithmBeatsTheBound(t *testing.T) {
	type part struct{ primitive, name string }
	reached := map[part]bool{}
	for _, a := range Algorithms() {
		b, _, ok := LowerBound(a.Primitive)
		if !ok {
			t.Logf("there is no bound for %s", a.Primitive.Name)
			continue
		}
		for size := 2; size <= 64; size++ {
			for _, depth := range []int{1, 2, 1000} {
				cost, bound := costs(t, a.Cost, a.Chunks, size, depth), costs(t, b.Cost, b.Chunks, size, depth)
				for name, c := range cost {
					if c < bound[name] {
						t.Errorf("%s, %d ranks, depth %d: %s is %v, and cannot be below %v", a.FullName(), size, depth, name, c, bound[name])
					}
					if c <= bound[name]*1.07 {
						reached[part{a.Primitive.Name, name}] = true
					}
				}
			}
		}
	}
	for name := range bounds {
		for _, p := range []part{{name, "alpha"}, {name, "beta"}, {name, "gamma"}} {
			if !reached[p] {
				t.Errorf("no algorithm reaches the bound: %v", p)
			}
		}
	}
}

// costs returns the parts of c in messages and blocks.
func costs(t *testing.T, c gen.Cost, chunks spec.Expr, size, depth int) map[string]float64 {
	t.Helper()
	alpha, beta, gamma, err := c.Eval(size, depth)
	if err != nil {
		t.Fatal(err)
	}
	n, err := chunks.OrElse(one).Eval(spec.Env{{Name: "size", Value: size}, {Name: "depth", Value: depth}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]float64{"alpha": float64(alpha), "beta": float64(beta) / float64(n), "gamma": float64(gamma) / float64(n)}
}
