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
			for _, p := range a.Calls(size, 1, 2, 1000) {
				if p.Root > 0 || p.Peer > 1 {
					continue
				}
				cost, bound := costs(t, a.Cost, a.Chunks, p, a.Param), costs(t, b.Cost, b.Chunks, p, gen.Param{})
				for name, c := range cost {
					if c < bound[name] {
						t.Errorf("%s, %+v: %s is %v, and cannot be below %v", a.FullName(), p, name, c, bound[name])
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

// costs returns the parts of c in messages and blocks. Those that are not stated are more than any bound.
func costs(t *testing.T, c gen.Cost, chunks spec.Expr, p gen.Params, open gen.Param) map[string]float64 {
	t.Helper()
	c.Alpha, c.Beta = c.Alpha.OrElse(spec.Int(mib)), c.Beta.OrElse(spec.Int(mib))
	alpha, beta, gamma, err := c.Eval(p)
	if err != nil {
		t.Fatal(err)
	}
	n, err := chunks.OrElse(one).Eval(p.Env(0).With(open.Name, open.Value))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]float64{"alpha": float64(alpha), "beta": float64(beta) / float64(n),
		"gamma": float64(gamma) / float64(n)}
}
