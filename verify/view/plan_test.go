package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// planOf returns the plan of a call.
func planOf(t testing.TB, a *gen.Algorithm, p gen.Params) string {
	t.Helper()
	d, err := Of(a, p, false)
	if err != nil || d.Plan == "" {
		t.Fatalf("%v, plan %q", err, d.Plan)
	}
	return d.Plan
}

// TestOfPlan: the plans of all algorithms are proved again, and show what the algorithms show.
func TestOfPlan(t *testing.T) {
	plans := 0
	schedules(t, []int{2, 3, 4}, func(s *gen.Schedule) {
		text := planText(s)
		d, err := OfPlan(strings.NewReader(text), spec.Primitives(), false)
		if err != nil || d.Failure != nil || !d.holds() || d.Plan != text {
			t.Fatalf("%s: %v, %+v", s.Algorithm, err, d)
		}
		plans++
	})
	if plans < 150 {
		t.Errorf("%d plans were proved", plans)
	}
}

// TestPlanTooLarge: what is too large is refused before it takes memory.
func TestPlanTooLarge(t *testing.T) {
	ranks := strings.Repeat(`{"steps":[]},`, 1023) + `{"steps":[]}`
	head := `{"plan":1,"name":"x","primitive":"AllToAll","size":1024,"chunks":1,"ranks":[`
	if _, err := OfPlan(strings.NewReader(head+ranks+"]}"), spec.Primitives(), false); err != ErrTooLarge {
		t.Errorf("1,024 ranks of an all-to-all: %v", err)
	}
	more := strings.Replace(head, "1024", "1025", 1) + `{"steps":[]},` + ranks + "]}"
	if _, err := OfPlan(strings.NewReader(more), spec.Primitives(), false); err == nil ||
		!strings.Contains(err.Error(), "more than 1024 ranks") {
		t.Errorf("1,025 ranks: %v", err)
	}
}

// FuzzOfPlan: whatever a plan says, it is proved, refuted or refused; what is shown of it can be written as JSON, and
// clauses hold unless it is refuted.
func FuzzOfPlan(f *testing.F) {
	for _, a := range []*gen.Algorithm{&catalogue.AllReduceRing, &catalogue.BarrierDissemination,
		&catalogue.AllToAllBruck, &catalogue.ScanDoubling, &catalogue.BroadcastChain, &catalogue.AllGatherVRing,
		&catalogue.ReduceScatterVRing} {
		text := planOf(f, a, gen.Params{Size: 3, Depth: 2})
		f.Add(text)
		f.Add(strings.Replace(text, `"from":2`, `"from":1`, 1))
		f.Add(strings.Replace(text, `"to":1`, `"to":2`, 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, inPlace := range []bool{false, true} {
			d, err := OfPlan(strings.NewReader(text), spec.Primitives(), inPlace)
			if err != nil {
				continue
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
			if d.Failure == nil && !d.holds() {
				t.Errorf("it is proved, but a clause does not hold: %+v", d.Clauses)
			}
		}
	})
}
