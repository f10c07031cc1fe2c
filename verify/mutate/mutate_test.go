package main

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/verify/internal/edit"
)

// TestScheduleMutants: package verify finds out every mutant that does not mean what the schedule meant that it was
// made from, and finds nothing wrong with those that do.
func TestScheduleMutants(t *testing.T) {
	made := testMutants(t, short.schedules, scheduleMutants)
	for _, o := range edit.Operators {
		if made[o.Name] == 0 {
			t.Errorf("no mutant is made by: %s", o.Name)
		}
	}
}

// TestAlgorithmMutants is the same for changes of the programs that schedules are made from.
func TestAlgorithmMutants(t *testing.T) {
	testMutants(t, short.algorithms, algorithmMutants)
}

func testMutants(t *testing.T, b bounds, mutants func(*gen.Algorithm, bounds, func(trial)) error) (
	made map[string]int) {
	const enough = 150
	killed, same := 0, 0
	made = map[string]int{}
	for _, a := range catalogue.Algorithms() {
		before := killed
		err := mutants(&a, b, func(x trial) {
			made[x.operator]++
			switch {
			case x.killer != "" && x.same:
				t.Errorf("%v: it means the same, and is refused: %v", x, x.err)
			case x.killer != "":
				killed++
			case x.same:
				same++
			default:
				t.Errorf("%v: nothing noticed", x)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if killed == before {
			t.Errorf("%s: no mutant", a.FullName())
		}
	}
	if killed < enough {
		t.Errorf("only %d mutants", killed)
	}
	t.Logf("%d mutants were found out, %d mean the same", killed, same)
	return made
}
