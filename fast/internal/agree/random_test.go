package agree

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// play has one thing after the other happen, which choose picks of as many, until there is no more.
func (s *simulation) play(choose func(n int) int) error {
	for {
		if err := s.check(); err != nil {
			return s.failure(err)
		}
		all := s.actions()
		if len(all) == 0 {
			break
		}
		s.do(all[choose(len(all))])
	}
	if err := s.checkEnd(); err != nil {
		return s.failure(err)
	}
	return nil
}

func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12).Draw(t, "size")
		crashes := rapid.IntRange(0, size).Draw(t, "crashes")
		quorum, mistakes := 0, 0
		if rapid.Bool().Draw(t, "quorum") {
			quorum = size/2 + 1
			mistakes = rapid.IntRange(0, 3*size).Draw(t, "mistakes")
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 20 {
			if err := newSimulation(size, quorum, crashes, mistakes, flaw{}).play(random.IntN); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestHighestRound has two values adopted, in rounds 0 and 1, because members take each other for dead that are not:
// the coordinator of round 2 has to take up the later one, which was decided, although it has adopted the earlier one
// itself.
func TestHighestRound(t *testing.T) {
	for _, f := range []flaw{{}, anyAdopted} {
		s := newSimulation(5, 3, 0, 10, f)
		for p := range s.machines {
			s.do(action{"start", p, 0})
		}
		s.tell(0, 3, 4)
		s.deliver(State, 0, 1, 2)
		s.deliver(Propose, 2, 0)
		s.tell(1, 0, 2)
		s.tell(3, 0)
		s.tell(4, 0)
		s.deliver(State, 1, 3, 4)
		s.deliver(Propose, 3, 1)
		s.deliver(Propose, 4, 1)
		s.deliver(Adopted, 1, 3, 4)
		s.tell(2, 0, 1)
		s.tell(3, 1)
		s.tell(4, 1)
		s.deliver(State, 2, 3, 4)
		s.deliver(Propose, 3, 2)
		s.deliver(Propose, 4, 2)
		s.deliver(Adopted, 2, 3, 4)
		if !s.machines[1].decided || !s.machines[2].decided {
			t.Fatal(s.failure(errors.New("members 1 and 2 have not decided")))
		}
		if err := s.check(); (err != nil) != (f.name != "") {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

func (s *simulation) tell(member int, dead ...int) {
	for _, d := range dead {
		s.do(action{"tell", member, d})
	}
}

// deliver delivers the messages of that kind that several members have sent to one.
func (s *simulation) deliver(k Kind, to int, from ...int) {
	for _, f := range from {
		i := slices.IndexFunc(s.packets, func(p packet) bool { return p.from == f && p.to == to && p.Kind == k })
		s.do(action{"deliver", i, 0})
	}
}
