package agree

import (
	"hash/maphash"
	"slices"
	"testing"
)

var seed = maphash.MakeSeed()

// explore does all that can happen, in every order, and gives the number of states and the first thing that is wrong.
func explore(s *simulation) (states int, err error) {
	seen := make(map[uint64]bool)
	stack := []*simulation{s}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := s.check(); err != nil {
			return len(seen), s.failure(err)
		}
		all := s.actions()
		if len(all) == 0 {
			if err := s.checkEnd(); err != nil {
				return len(seen), s.failure(err)
			}
		}
		for _, x := range all {
			next := s.clone()
			next.do(x)
			if k := next.key(); !seen[k] {
				seen[k] = true
				stack = append(stack, next)
			}
		}
	}
	return len(seen), nil
}

func (s *simulation) clone() *simulation {
	c := *s
	c.machines = nil
	for _, m := range s.machines {
		d := *m
		d.gone, d.dead, d.acks = slices.Clone(m.gone), slices.Clone(m.dead), slices.Clone(m.acks)
		d.reports = slices.Clone(m.reports)
		c.machines = append(c.machines, &d)
	}
	c.told = nil
	for _, t := range s.told {
		c.told = append(c.told, slices.Clone(t))
	}
	c.started, c.crashed = slices.Clone(s.started), slices.Clone(s.crashed)
	c.packets = slices.Clone(s.packets)
	return &c
}

// key tells states apart.
func (s *simulation) key() uint64 {
	b := make([]byte, 0, 2048)
	flag := func(f bool) {
		if f {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	size := len(s.machines)
	for p, m := range s.machines {
		flag(s.crashed[p])
		flag(s.started[p])
		flag(m.proposed)
		flag(m.decided)
		flag(m.lost)
		b = append(b, byte(m.told), byte(m.adopted))
		b = m.acks.appendTo(m.dead.appendTo(m.gone.appendTo(s.told[p].appendTo(b))))
		if m.adopted > 0 || m.decided {
			b = append(b, (&Message{Value: m.value}).encode(size)...)
		}
		for _, r := range m.reports {
			flag(r != nil)
			if r != nil {
				b = append(b, r.encode(size)...)
			}
		}
	}
	for _, p := range s.packets {
		b = append(b, p.text...)
	}
	b = append(b, byte(s.crashes), byte(s.mistakes))
	return maphash.Bytes(seed, b)
}

// world is a group that is small enough to do everything in.
type world struct {
	size, quorum, crashes, mistakes int
	started                         bool // all members have, before anything else happens
	states                          int  // how many there are
}

var worlds = []world{
	{1, 0, 1, 0, false, 3},
	{2, 0, 2, 0, false, 87},
	{3, 0, 3, 0, false, 5521},
	{3, 2, 2, 0, false, 4334},
	{3, 2, 0, 3, false, 11904},
	{3, 2, 1, 2, false, 46082},
	{4, 0, 1, 0, false, 12181},
	{4, 0, 2, 0, true, 130885},
}

func (w world) explore(f flaw) (states int, err error) {
	s := newSimulation(w.size, w.quorum, w.crashes, w.mistakes, f)
	for p := 0; p < w.size && w.started; p++ {
		s.do(action{"start", p, 0})
	}
	return explore(s)
}

func TestExhaustive(t *testing.T) {
	for _, w := range worlds {
		if testing.Short() && w.states > 50_000 {
			continue
		}
		if states, err := w.explore(flaw{}); err != nil || states != w.states {
			t.Errorf("%+v: %d states, %v", w, states, err)
		}
	}
}

// TestPlantedBugs has the simulation find every bug in one of the groups.
func TestPlantedBugs(t *testing.T) {
	for _, f := range []flaw{noAdoptPhase, noRounds, forgetsAdopted, noAnswers, firstAnswer} {
		var err error
		for _, w := range worlds {
			if err == nil {
				_, err = w.explore(f)
			}
		}
		if err == nil {
			t.Errorf("a machine was not found out: %s", f.name)
		}
	}
}
