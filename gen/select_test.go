package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// algorithmsFor are those of the catalogue.
func algorithmsFor(name string) []Algorithm {
	return slices.DeleteFunc(Catalogue(), func(a Algorithm) bool { return a.Primitive.Name != name })
}

// TestSelectionIsLegalAndTotal checks the table of every primitive: the one that its file has, as it stands there, or the
// one that it gets without.
func TestSelectionIsLegalAndTotal(t *testing.T) {
	for _, p := range spec.Primitives() {
		algorithms := algorithmsFor(p.Name)
		table := Rules(p, algorithms)
		if noted, ok := tables[p.Name]; ok {
			if d := cmp.Diff(noted, table); d != "" {
				t.Errorf("%s has another table: %s", p.Name, d)
			}
		}
		if err := CheckRules(table, algorithms, spec.Ops()); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for name := range tables {
		if len(algorithmsFor(name)) == 0 {
			t.Errorf("there are rules for %s, which has no algorithms", name)
		}
	}
}

func TestCheckRulesFindsFaults(t *testing.T) {
	any1 := Algorithm{Name: "any", Body: []Node{Let{"x", depth}}}
	few := Algorithm{Name: "few", Requires: Requires{Size: spec.Le(size, spec.Int(8))}}
	sums := Algorithm{Name: "sums", Requires: Requires{Commutative: true}}
	algorithms := []Algorithm{any1, few, sums}
	everything := Rule{Algorithm: "any"}
	const subtraction = spec.Op(200) // no operator, and so not commutative either
	for _, tc := range []struct {
		name  string
		table []Rule
		ops   []spec.Op
		want  string
	}{
		{"sound", []Rule{{Algorithm: "few", MaxSize: 8, MaxBytes: 9}, {Algorithm: "sums", MinSize: 9}, everything}, nil, ""},
		{"a gap after the last size", []Rule{{Algorithm: "any", MaxSize: 5000}}, nil, "no rule is for 5001 ranks"},
		{"a gap below the first size", []Rule{{Algorithm: "any", MinSize: 2}}, nil, "no rule is for 1 ranks"},
		{"a gap between sizes", []Rule{{Algorithm: "any", MaxSize: 3}, {Algorithm: "any", MinSize: 5}}, nil, "no rule is for 4 ranks"},
		{"a gap after the last byte", []Rule{{Algorithm: "any", MaxBytes: 70}}, nil, "blocks of 71 bytes"},
		{"a gap in a corner", []Rule{{Algorithm: "any", MaxBytes: 70}, {Algorithm: "any", MaxSize: 9}}, nil, "no rule is for 10 ranks, blocks of 71 bytes"},
		{"no rules", nil, nil, "no rule is for 1 ranks"},
		{"a gap for other ops", []Rule{{Algorithm: "sums"}}, []spec.Op{spec.OpSum, subtraction}, "commutative op: false"},
		{"no gap where other ops have rules", []Rule{{Algorithm: "sums"}, everything}, []spec.Op{spec.OpSum, subtraction}, ""},
		{"an unknown algorithm", []Rule{{Algorithm: "most"}, everything}, nil, "rule 1, most: there is no such algorithm"},
		{"a size that is not served", []Rule{{Algorithm: "few", MaxSize: 9}, everything}, nil, "rule 1, few: it does not serve 9 ranks"},
		{"sizes that are not served", []Rule{{Algorithm: "few", MinSize: 3}, everything}, nil, "it does not serve 9 ranks"},
		{"a negative limit", []Rule{{Algorithm: "any", MaxBytes: -1}}, nil, "a limit is negative"},
		{"no size", []Rule{{Algorithm: "any", MinSize: 3, MaxSize: 2}, everything}, nil, "no size is in 3..2"},
		{"pieces without a depth", []Rule{{Algorithm: "sums", PieceBytes: 5}}, nil, "no depth that PieceBytes could set"},
		{"a rule that is never used", []Rule{everything, {Algorithm: "few", MaxSize: 8}}, nil, "rule 2, few: other rules come before it"},
		{"a rule twice", []Rule{{Algorithm: "few", MaxSize: 8}, {Algorithm: "few", MaxSize: 8}, everything}, nil, "rule 2, few"},
	} {
		err := CheckRules(tc.table, algorithms, tc.ops)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestRulesOfOthers: algorithms that are not this package's get a rule each.
func TestRulesOfOthers(t *testing.T) {
	want := []Rule{{Algorithm: "mine"}, {Algorithm: "yours"}}
	for _, p := range []spec.Primitive{{Name: "Exchange"}, spec.AllReduce} {
		if d := cmp.Diff(want, Rules(p, []Algorithm{{Name: "mine"}, {Name: "yours"}})); d != "" {
			t.Errorf("%s: %s", p.Name, d)
		}
	}
}

func TestRuleDepth(t *testing.T) {
	for _, tc := range []struct{ piece, count, bytes, want int }{
		{0, 100, 800, 1}, {64, 0, 0, 1}, {64, 1, 8, 1}, {64, 8, 64, 1}, {64, 9, 72, 2}, {64, 100, 800, 13}, {4, 100, 800, 100},
	} {
		if got := (Rule{PieceBytes: tc.piece}).Depth(tc.count, tc.bytes); got != tc.want {
			t.Errorf("%+v: got %d", tc, got)
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
		{1, 8, true, "recursive-doubling"}, {2, 64 << 20, true, "ring"}, {4, 8, true, "one-shot"},
		{9, 8, true, "recursive-doubling"}, {4, 256 * kib, true, "tree"}, {4, 512*kib + 1, true, "ring"},
		{4, 256 * kib, false, "tree"}, {2, 8, false, "recursive-doubling"},
	} {
		if got := table[Select(table, algorithms, tc.size, tc.bytes, tc.commutative)].Algorithm; got != tc.want {
			t.Errorf("%+v: got %s", tc, got)
		}
	}
	if got := Select(table, algorithms, 4, 64<<20, false); got >= 0 {
		t.Errorf("an op that does not commute gets %s", table[got].Algorithm)
	}
}
