package counterexample

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// TestShownRanks: where there are too many ranks for a picture, it has those that the rank in focus exchanges messages
// with just before and after what is wrong, and not those of its first steps.
func TestShownRanks(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.AllToAllPairwise, gen.Params{Size: 4 * sceneRanks, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	const rank = 1
	var sends []int // its instructions, in order
	for i, in := range s.Ranks[rank].Instrs {
		if in.Kind == gen.SendInstr {
			sends = append(sends, i)
		}
	}
	for _, k := range []int{0, len(sends) / 2, len(sends) - 1} {
		shown := map[int]bool{}
		for _, r := range shownRanks(s, Instr{rank, sends[k]}, nil) {
			shown[r] = true
		}
		if len(shown) != sceneRanks || !shown[rank] {
			t.Errorf("send %d: %d ranks are shown: %v", k, len(shown), shown)
		}
		for near := max(0, k-2); near <= min(k+2, len(sends)-1); near++ {
			if peer := s.Ranks[rank].Instrs[sends[near]].Peer; !shown[peer] {
				t.Errorf("send %d: rank %d is not shown, the peer of send %d", k, peer, near)
			}
		}
	}
}

// TestColumns: the steps of a rank stand one behind the other, and no step before one that sends what it receives.
func TestColumns(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		for _, p := range a.Calls(8, 2) {
			s, err := gen.Instantiate(&a, p)
			if err != nil {
				t.Fatal(err)
			}
			columns := columnsOf(s)
			for r := range s.Ranks {
				for i, in := range s.Ranks[r].Instrs[min(1, len(s.Ranks[r].Instrs)):] {
					before := s.Ranks[r].Instrs[i].Step
					if before < in.Step && columns[r][before] >= columns[r][in.Step] {
						t.Fatalf("%s, %+v: rank %d: step %d does not stand behind step %d", a.FullName(), p, r, in.Step, before)
					}
				}
			}
			for recv, send := range pairsOf(s) {
				if columns[recv.Rank][recv.of(s).Step] < columns[send.Rank][send.of(s).Step] {
					t.Fatalf("%s, %+v: rank %d receives in step %d what is sent in a later column", a.FullName(), p, recv.Rank,
						recv.of(s).Step)
				}
			}
		}
	}
}
