package smtproof_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/verify/smtproof"
)

// implied are the parts of goals that refuse nothing which other parts do not refuse: what they say follows from those.
var implied = map[string]string{
	"bounds: operand: the number of cells is not negative": "it is that of the region",
	"matched: a receive: data":                             "the send at its other end says so",
	"matched: a receive: as many cells":                    "the same",
	"matched: a receive: as long a chunk":                  "the same",
	"matched: a receive: as long a block":                  "the same",
	"bounds: operand: the rank knows how long it is":       "it is as long as the region",
	"bounds: operand i: the rank knows how long it is":     "it is as long as the result",
	"length in place": "a block that is shared is as long in both buffers, which " +
		"spec.Expect checks",
	"operands: the right one is not finished": "what is finished is of all ranks, and with another operand " +
		"it would be of more",
	"post: sum: all ranks":             "nothing but a sum of all ranks is ever finished",
	"tree: the right one's first rank": "it follows from the left operand and the result",
}

// label returns the kind of an obligation and a part of its goal.
func label(o *induct.Obligation, p induct.Part) string { return o.Name + ": " + p.Says }

// TestEveryPartIsNeeded has for each part of a goal an algorithm, or an invariant, that is wrong and that nothing else
// refuses: without that part it would be proved. So it has for each kind of obligation that is derived for calls in
// place, too, where only those are wrong.
func TestEveryPartIsNeeded(t *testing.T) {
	all := &smtproof.Problem{Algorithm: &catalogue.AllGatherDirect} // any will do: it gives the problem its name
	at := map[string]int{}                                          // the scripts of all, each once
	refusedByOnePart := slices.Concat(refusedByOnePart, unevenRefusedByOnePart)
	wants := make([]map[int]string, len(refusedByOnePart)) // which of them a plant has, and what for
	there := map[string]bool{}
	for _, a := range inductive() {
		list, err := induct.Obligations(&a, a.Hints)
		if err != nil {
			t.Fatal(err)
		}
		note(t, there, list)
	}
	for i, x := range refusedByOnePart {
		list, err := induct.Obligations(&x.a, x.hints)
		if err != nil {
			t.Fatalf("%s: %v", x.label, err)
		}
		note(t, there, list)
		wants[i] = map[int]string{}
		for _, o := range list {
			for _, part := range o.Parts {
				l := label(&o, part)
				if _, ok := implied[l]; ok {
					continue
				}
				if o.InPlace {
					l = inPlaceLabel(&o)
				}
				text := script(t, o, part.Is)
				if _, ok := at[text]; !ok {
					at[text] = len(all.Scripts)
					all.Scripts = append(all.Scripts, text)
				}
				wants[i][at[text]] = l
			}
		}
	}
	proof, err := all.Prove(t.Context(), smtproof.Options{Solvers: needSolvers(t), Limit: patience})
	if err != nil {
		t.Fatal(err)
	}
	open := proof.Open()
	for i, x := range refusedByOnePart {
		refuses := map[string]bool{}
		for k, l := range wants[i] {
			if slices.Contains(open, k) {
				refuses[l] = true
			}
		}
		if names := slices.Sorted(maps.Keys(refuses)); !slices.Equal(names, []string{x.label}) {
			t.Errorf("%s: it has to be refused by %q alone, and is by %q\n%s", x.a.FullName(), x.label, names, x.a.Text())
		}
		delete(there, x.label)
	}
	for l := range implied {
		if !there[l] {
			t.Errorf("nothing has the part %q", l)
		}
		delete(there, l)
	}
	for l := range there {
		t.Errorf("nothing is refused by %q alone", l)
	}
}

// inPlaceLabel returns a kind of obligation, about calls in place.
func inPlaceLabel(o *induct.Obligation) string { return o.Name + " in place" }

// note adds the labels of obligations.
func note(t *testing.T, labels map[string]bool, list []induct.Obligation) {
	for _, o := range list {
		if len(o.Parts) == 0 {
			t.Errorf("%v has a goal without parts", &o)
		}
		for _, p := range o.Parts {
			labels[label(&o, p)] = true
		}
		if o.InPlace {
			labels[inPlaceLabel(&o)] = true
		}
	}
}
