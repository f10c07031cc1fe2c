package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// schedules calls each with schedules of all algorithms of the catalogue for few ranks.
func schedules(t *testing.T, sizes []int, each func(*gen.Schedule)) {
	t.Helper()
	for _, a := range catalogue.Algorithms() {
		for _, size := range sizes {
			for _, call := range a.Calls(size, 1, 2) {
				if call.Root > 1 || call.Peer > 1 {
					continue
				}
				s, err := gen.Instantiate(&a, call)
				if err != nil {
					t.Fatal(err)
				}
				each(s)
			}
		}
	}
}

// holds reports whether all clauses hold in the end, on all ranks.
func (d *Data) holds() bool {
	return !slices.ContainsFunc(d.Clauses, func(c Clause) bool { return slices.Contains(c.Since, Never) })
}

// TestProved: in what is proved, all clauses come to hold. With more than one rank, some of them do so late.
func TestProved(t *testing.T) {
	schedules(t, []int{1, 2, 3, 4, 6}, func(s *gen.Schedule) {
		for _, inPlace := range []bool{false, true} {
			if _, err := verify.Schedule(s, inPlace); err != nil {
				continue // it cannot be in place
			}
			d, err := New(s, inPlace)
			if err != nil || d.Failure != nil || !d.holds() || len(d.Proof) < 2 || d.Stuck != nil {
				t.Fatalf("%s, %s, in place %t: %v, %+v", s.Algorithm, d.Call, inPlace, err, d)
			}
			late := slices.ContainsFunc(d.Clauses, func(c Clause) bool { return slices.Max(c.Since) > 0 })
			if s.Size > 1 && !late {
				t.Errorf("%s, %s: everything holds before the call", s.Algorithm, d.Call)
			}
			if n := len(d.Messages) / messageFields; n != len(s.Messages()) {
				t.Errorf("%s, %s: %d messages", s.Algorithm, d.Call, n)
			}
		}
	})
}

// aboutResults are the checks whose failure shows in what cells hold in the end.
var aboutResults = []verify.Check{verify.Postcondition, verify.Finish, verify.Order, verify.Uninitialized}

// TestRefuted plants mistakes. Where package verify finds a wrong result, a clause does not hold, and the page shows
// the same value at the same place; where it finds nothing, all clauses hold.
func TestRefuted(t *testing.T) {
	checks := map[verify.Check]int{}
	number := 0
	schedules(t, []int{3, 4}, func(s *gen.Schedule) {
		for rank := range s.Ranks {
			for i := range s.Ranks[rank].Instrs {
				for _, o := range edit.Operators {
					if number++; number%53 != 0 {
						continue
					}
					mutant := edit.Clone(s)
					if o.Plant(edit.Site{Schedule: mutant, Rank: rank, Index: i}) {
						checks[compare(t, mutant, o.Name)]++
					}
				}
			}
		}
	})
	for _, c := range append(aboutResults, verify.Unmatched, verify.Shape, "") {
		if checks[c] == 0 {
			t.Errorf("no mutant fails %q", c)
		}
	}
}

// compare compares the page of a mutant with the verdict of package verify, whose check it returns.
func compare(t *testing.T, mutant *gen.Schedule, name string) verify.Check {
	d, err := New(mutant, false)
	if err != nil {
		t.Fatalf("%s, %s: %v", mutant.Algorithm, name, err)
	}
	switch {
	case d.Failure == nil && !d.holds():
		t.Errorf("%s, %s: it was proved, but a clause does not hold: %+v", mutant.Algorithm, name, d.Clauses)
	case d.Failure == nil:
		return ""
	case !slices.Contains(aboutResults, verify.Check(d.Failure.Check)):
	case d.holds():
		t.Errorf("%s, %s: all clauses hold, but: %s", mutant.Algorithm, name, d.Failure.Text)
	case len(d.Failure.Cells) != 1:
		t.Errorf("%s, %s: cells %v are wrong", mutant.Algorithm, name, d.Failure.Cells)
	default:
		if got := d.finalText(mutant, d.Failure.Cells[0]); !strings.HasPrefix(d.Failure.Got, got) {
			t.Errorf("%s, %s: %q, package verify says %q", mutant.Algorithm, name, got, d.Failure.Got)
		}
	}
	return verify.Check(d.Failure.Check)
}

// finalText returns what a cell holds in the end, from the data alone.
func (d *Data) finalText(s *gen.Schedule, cell int) string {
	node := cell
	for w := range slices.Chunk(d.Writes, 3) {
		if w[1] == cell {
			node = w[2]
		}
	}
	want, _ := spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	r := &run{s: s, want: want, inPlace: d.InPlace, data: d}
	r.layout()
	r.nodes.pairs = d.Inner
	return r.text(node)
}
