package mutants_test

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/mutants"
)

// TestUnnoticed: of a primitive without examples every change goes unnoticed, and of one with examples of all that it
// promises none. Where one of these is taken away, the changes are found that nothing else refuses.
func TestUnnoticed(t *testing.T) {
	none := [2]int{-1, -1}
	examples := []spec.Example{
		{Root: 2, In: []string{"", "", "a b c"}, Out: []string{"a", "b", "c"}, InPlace: [][2]int{none, none, {2, 0}}},
		{Root: 0, In: []string{"a b", ""}, Out: []string{"a", "b"}, InPlace: [][2]int{{0, 0}, none}},
		{Root: 0, In: []string{"a"}, Out: []string{"a"}},
	}
	p := spec.Scatter
	all, refused := mutants.Unnoticed(p)
	if len(all) < 20 || refused != 0 {
		t.Errorf("without examples: %d are not noticed, %d refused", len(all), refused)
	}
	p.Examples = examples
	if left, refused := mutants.Unnoticed(p); len(left) != 0 || refused != len(all) {
		t.Errorf("with examples: %d of %d are refused, not noticed: %v", refused, len(all), left)
	}
	for i, want := range []string{
		"InPlace.InBlock: 0 instead of root",
		"InPlace.InBlock: size - 1 instead of root",
		"Out.On: size - 1 instead of none",
	} {
		p.Examples = slices.Delete(slices.Clone(examples), i, i+1)
		left, _ := mutants.Unnoticed(p)
		if !slices.ContainsFunc(left, func(m mutants.Mutant) bool { return m.String() == want }) {
			t.Errorf("without example %d, %s is noticed; not noticed: %v", i, want, left)
		}
	}
}

// TestOrderIsNoMeaning: a weaker order is no change that an example would have to refuse.
func TestOrderIsNoMeaning(t *testing.T) {
	all, _ := mutants.Unnoticed(spec.AllReduce)
	if len(all) == 0 || slices.ContainsFunc(all, func(m mutants.Mutant) bool {
		return m.Part == "Order" ||
			m.Part == "Name"
	}) {
		t.Errorf("not noticed: %v", all)
	}
}
