package catalogue

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// algorithmsFor returns those of the catalogue.
func algorithmsFor(name string) []gen.Algorithm {
	return slices.DeleteFunc(Algorithms(), func(a gen.Algorithm) bool { return a.Primitive.Name != name })
}

// TestSelectionIsLegalAndTotal checks the table of every primitive: the one that its file has, as it stands there, or
// the one that it gets without.
func TestSelectionIsLegalAndTotal(t *testing.T) {
	for _, p := range spec.Primitives() {
		algorithms := algorithmsFor(p.Name)
		table := Rules(p, algorithms)
		if noted, ok := tables[p.Name]; ok {
			if d := cmp.Diff(slices.Concat(predicted[p.Name], noted), table); d != "" {
				t.Errorf("%s has another table: %s", p.Name, d)
			}
		}
		if err := gen.CheckRules(table, algorithms, spec.Ops()); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for name := range tables {
		if len(algorithmsFor(name)) == 0 {
			t.Errorf("there are rules for %s, which has no algorithms", name)
		}
	}
}

// TestRulesOfOthers: algorithms that are not this package's get a rule each.
func TestRulesOfOthers(t *testing.T) {
	want := []gen.Rule{{Algorithm: "mine"}, {Algorithm: "yours"}}
	for _, p := range []spec.Primitive{{Name: "Exchange"}, spec.AllReduce} {
		if d := cmp.Diff(want, Rules(p, []gen.Algorithm{{Name: "mine"}, {Name: "yours"}})); d != "" {
			t.Errorf("%s: %s", p.Name, d)
		}
	}
}

func TestSelect(t *testing.T) {
	algorithms := algorithmsFor("AllReduce")
	table := Rules(spec.AllReduce, algorithms)
	for _, tc := range []struct {
		size, bytes int
		commutative bool
		want        string
	}{
		{2, 8, true, "recursive-doubling"}, {2, 4 << 20, true, "ring"}, {2, 8 << 20, true, "segmented-ring"},
		{2, 64 << 20, true, "recursive-doubling"}, {4, 8, true, "one-shot"},
		{16, 8, true, "one-shot"}, {17, 8, true, "recursive-doubling"}, {4, 256 * kib, true, "two-shot"},
		{4, 768 * kib, true, "two-shot"}, {8, 768 * kib, true, "two-shot"}, {4, 1024*kib + 1, true, "ring"},
		{8, 768 * kib, false, "two-shot"}, {2, 8, false, "recursive-doubling"},
	} {
		c := selection.Call{Transport: "shm", Size: tc.size, Commutative: tc.commutative}
		if got := table[gen.Select(table, algorithms, c, tc.bytes)].Algorithm; got != tc.want {
			t.Errorf("%+v: got %s", tc, got)
		}
	}
	for _, tc := range []struct {
		perHost, bytes int
		want           string
	}{{0, 8, "recursive-doubling"}, {2, 8, "one-shot"}, {1, 8, "one-shot"}, {3, 64 * kib, "tree"},
		{2, 64 * kib, "recursive-doubling"}, {0, 16 * mib, "swing"}, {1, 16 * mib, "ring"}} {
		c := selection.Call{Transport: "tcp", Size: 4, PerHost: tc.perHost, Commutative: true}
		if got := table[gen.Select(table, algorithms, c, tc.bytes)].Algorithm; got != tc.want {
			t.Errorf("over tcp, %+v: got %s", tc, got)
		}
	}
	for _, c := range []selection.Call{{Transport: "tcp", Size: 4}, {Transport: "shm", Size: 4},
		{Transport: "shm", Size: 4, Commutative: true, AtOnce: true}} {
		if got := table[gen.Select(table, algorithms, c, 64<<20)].Algorithm; got != "two-shot" {
			t.Errorf("%+v gets %s", c, got)
		}
	}
}
