package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// overRDMA returns the machine by which the rules for RDMA were predicted.
func overRDMA(t *testing.T) *Machine {
	t.Helper()
	f, err := os.Open("../../../docs/rdma.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := new(Machine)
	if err := Decode(f, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// played returns the times of one call by all algorithms that carry it out, at every depth that rules of the table ask
// for.
func played(t *testing.T, m *Machine, algorithms []gen.Algorithm, table []gen.Rule, size,
	bytes int) map[string]float64 {
	t.Helper()
	times := map[string]float64{}
	for i := range algorithms {
		a := &algorithms[i]
		for _, r := range append(table, gen.Rule{Algorithm: a.Name}) {
			name := variant(&r, bytes)
			if _, ok := times[name]; ok || r.Algorithm != a.Name || !a.Serves(size, 0) {
				continue
			}
			p := gen.Params{Size: size, Peer: min(1, size-1), Depth: r.Depth(bytes/4, bytes)}
			result, err := Play(t.Context(), m, Call{Algorithm: a, Params: p, Block: bytes, InPlace: true})
			if err != nil {
				t.Fatal(err)
			}
			times[name] = result.Time.Seconds()
		}
	}
	return times
}

// variant names the algorithm and the depth of a rule.
func variant(r *gen.Rule, bytes int) string {
	return fmt.Sprintf("%s in %d", r.Algorithm, r.Depth(bytes/4, bytes))
}

// tooSlow returns the calls that take longer than the best algorithm for them by more than a quarter, on ranks over
// RDMA with a host each.
func tooSlow(t *testing.T, m *Machine, p spec.Primitive, change func([]gen.Rule) []gen.Rule) (found []string) {
	t.Helper()
	algorithms := slices.DeleteFunc(catalogue.Algorithms(),
		func(a gen.Algorithm) bool { return a.Primitive.Name != p.Name })
	table := catalogue.Rules(p, algorithms)
	for _, size := range []int{2, 3, 4, 6, 8, 12, 16, 24, 32} {
		for bytes := 8; bytes <= 16<<20 && bytes*size <= 128<<20; bytes *= 4 {
			times := played(t, m, algorithms, table, size, bytes)
			inUse := change(table)
			c := selection.Call{Transport: "rdma", Size: size, PerHost: 1, Commutative: true}
			got := variant(&inUse[gen.Select(inUse, algorithms, c, bytes)], bytes)
			best := slices.MinFunc(slices.Sorted(maps.Keys(times)),
				func(a, b string) int { return cmp.Compare(times[a], times[b]) })
			if times[got] > 1.25*times[best] {
				found = append(found, fmt.Sprintf("%s of %d bytes among %d: %s takes %.1f µs, %s %.1f", p.Name, bytes, size, got,
					times[got]*1e6, best, times[best]*1e6))
			}
		}
	}
	return found
}

// TestPredictedRules: the rules for RDMA follow the prediction that they say they come from; those before them do not.
func TestPredictedRules(t *testing.T) {
	m := overRDMA(t)
	for _, p := range spec.Primitives() {
		for _, call := range tooSlow(t, m, p, slices.Clone) {
			t.Error(call)
		}
	}
	measured := func(table []gen.Rule) []gen.Rule {
		return slices.DeleteFunc(slices.Clone(table), func(r gen.Rule) bool { return r.Predicted })
	}
	if tooSlow(t, m, spec.AllReduce, measured) == nil {
		t.Error("the rules that were measured over TCP are as good: there is no need for others, or no way to tell")
	}
}
