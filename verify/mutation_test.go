package verify_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// drawSchedule returns a small schedule of some algorithm.
func drawSchedule(t *rapid.T) *gen.Schedule {
	catalogue := catalogue.Algorithms()
	a := catalogue[rapid.IntRange(0, len(catalogue)-1).Draw(t, "algorithm")]
	t.Log(a.FullName())
	size := rapid.IntRange(2, 6).Filter(func(n int) bool { return len(a.Locals(n)) > 0 }).Draw(t, "size")
	call := rapid.SampledFrom(a.Calls(size, 1, 2, 3)).Draw(t, "call")
	s, err := gen.Instantiate(&a, call)
	if err != nil {
		t.Fatal(err)
	}
	return edit.Clone(s)
}

// mutate makes one of the mistakes of package edit at one instruction, if it can be made there.
func mutate(t *rapid.T, s *gen.Schedule) {
	rank := rapid.IntRange(0, s.Size-1).Draw(t, "rank")
	if n := len(s.Ranks[rank].Instrs); n > 0 {
		o := edit.Operators[rapid.IntRange(0, len(edit.Operators)-1).Draw(t, "operator")]
		o.Plant(edit.Site{Schedule: s, Rank: rank, Index: rapid.IntRange(0, n-1).Draw(t, "instruction")})
	}
}

// TestMutants: however a schedule is mutated, the checker gives a report or an error.
func TestMutants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		for range rapid.IntRange(1, 20).Draw(t, "mutations") {
			mutate(t, s)
		}
		checkAll(s)
	})
}

// checkAll asks everything that there is to ask of a schedule, for the sake of not panicking.
func checkAll(s *gen.Schedule) {
	for _, inPlace := range []bool{false, true} {
		_, err := verify.Schedule(s, inPlace)
		var f *verify.Failure
		if errors.As(err, &f) {
			_, _ = f.SVG()
		}
		if err != nil {
			_ = err.Error()
		}
	}
	if _, err := verify.Channels(s); err != nil {
		_ = err.Error()
	}
}
