package view

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/google/go-cmp/cmp"
)

// TestPhases: steps in which the same happens are one phase, and a step without a message is part of the one before.
func TestPhases(t *testing.T) {
	for _, tc := range []struct {
		a    *gen.Algorithm
		p    gen.Params
		want []Phase
	}{
		{&catalogue.AllReduceRing, gen.Params{Size: 4, Depth: 1}, []Phase{
			{0, 3, "Every rank sends to the next rank, and the receiver adds what it gets to what it has (⊕); " +
				"after the last of these steps every rank marks its result as finished."},
			{3, 6, "Every rank sends to the next rank, and the receiver stores what it gets."}}},
		{&catalogue.BroadcastBinomial, gen.Params{Size: 4, Depth: 1}, []Phase{
			{0, 1, "Rank 0 sends to rank 2, and the receiver stores what it gets."},
			{1, 2, "Rank 0 sends to rank 1, rank 2 sends to rank 3, and the receiver stores what it gets; " +
				"then rank 0 copies data within its memory."}}},
		{&catalogue.BroadcastBinomial, gen.Params{Size: 8, Depth: 1}, []Phase{
			{0, 1, "Rank 0 sends to rank 4, and the receiver stores what it gets."},
			{1, 2, "Rank 0 sends to rank 2, rank 4 sends to rank 6, and the receiver stores what it gets."},
			{2, 3, "Each of 4 ranks sends to the next rank, and the receiver stores what it gets; " +
				"then rank 0 copies data within its memory."}}},
		{&catalogue.ReduceBinomial, gen.Params{Size: 8, Depth: 1}, []Phase{
			{0, 1, "Each of 4 ranks sends to the rank before it, and the receiver adds what it gets to what it has (⊕)."},
			{1, 2, "Rank 2 sends to rank 0, rank 6 sends to rank 4, and the receiver adds what it gets to what it has (⊕)."},
			{2, 3, "Rank 4 sends to rank 0, and the receiver adds what it gets to what it has (⊕); " +
				"then rank 0 marks its result as finished."}}},
		{&catalogue.BarrierDissemination, gen.Params{Size: 8, Depth: 1}, []Phase{
			{0, 1, "Every rank sends to the next rank, a message without data, which says who has come."},
			{1, 2, "Every rank sends to the rank that is 2 further on, a message without data, which says who has come."},
			{2, 3, "Every rank sends to the rank that is 4 further on, a message without data, which says who has come."}}},
		{&catalogue.AllToAllDirect, gen.Params{Size: 4, Depth: 1}, []Phase{
			{0, 1, "Every rank copies data within its memory."},
			{1, 2, "Every rank sends to every other one, and the receiver stores what it gets."}}},
		{&catalogue.AllReduceRing, gen.Params{Size: 1, Depth: 1}, []Phase{
			{0, 1, "Every rank copies data within its memory, every rank marks its result as finished."}}},
	} {
		d, err := Of(tc.a, tc.p, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, d.Phases); d != "" {
			t.Errorf("%s, %d ranks: %s", tc.a.FullName(), tc.p.Size, d)
		}
	}
}
