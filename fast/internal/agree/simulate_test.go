package agree

import (
	"fmt"
	"slices"
	"strings"
)

// simulation is a group in which everything is possible that may happen: members start in any order, messages overtake
// each other, members crash at any point, some of their messages get lost then, and the others are told at any time.
type simulation struct {
	machines []*Machine
	quorum   int
	flaw     flaw
	started  []bool
	crashed  []bool
	told     []Set    // by member: of whom it knows that they are gone
	packets  []packet // sorted by text
	crashes  int      // how many more there may be
	mistakes int      // how many times more a member may be told that another one is dead that is not
	mistaken bool     // whether there may be such mistakes; then only that all values are equal is promised
	history  *event
}

type packet struct {
	from, to int
	Message
	text string // all of this, encoded
}

// event is something that has happened, after another one.
type event struct {
	action
	packet packet
	before *event
}

// flaw is a planted bug: each function, if not nil, stands for a part of a machine that is wrong.
type flaw struct {
	name string
	// take stands for Take; it returns false to have Take go on.
	take func(m *Machine, from int, msg *Message) bool
	// sent is called with what is sent, and whether the member had decided before; it returns false to keep it back.
	sent func(m *Machine, e Envelope, decided bool) bool
}

func newSimulation(size, quorum, crashes, mistakes int, f flaw) *simulation {
	s := &simulation{quorum: quorum, crashes: crashes, mistakes: mistakes, mistaken: mistakes > 0, flaw: f,
		started: make([]bool, size), crashed: make([]bool, size)}
	for me := range size {
		s.machines = append(s.machines, NewMachine(size, me))
		s.told = append(s.told, newSet(size))
	}
	return s
}

// action is one thing that happens.
type action struct {
	kind string
	a, b int
}

// actions returns what can happen next.
func (s *simulation) actions() (all []action) {
	for p := range s.machines {
		if s.crashed[p] {
			continue
		}
		if !s.started[p] {
			all = append(all, action{"start", p, 0})
		}
		if s.crashes > 0 {
			all = append(all, action{"crash", p, 0})
		}
		for q := range s.machines {
			if p != q && !s.told[p].Has(q) && (s.crashed[q] || s.mistakes > 0) {
				all = append(all, action{"tell", p, q})
			}
		}
	}
	for i, x := range s.packets {
		if i > 0 && s.packets[i-1].text == x.text {
			continue
		}
		all = append(all, action{"deliver", i, 0})
		if s.crashed[x.from] || s.told[x.to].Has(x.from) || s.told[x.from].Has(x.to) {
			all = append(all, action{"lose", i, 0})
		}
	}
	return all
}

func (v Value) equal(w Value) bool {
	return v.Flags == w.Flags && v.First == w.First && slices.Equal(v.Gone, w.Gone) && slices.Equal(v.Dead, w.Dead)
}

func (s *simulation) do(x action) {
	s.history = &event{action: x, before: s.history}
	if x.kind == "deliver" || x.kind == "lose" {
		s.history.packet = s.packets[x.a]
	}
	switch x.kind {
	case "start":
		s.started[x.a] = true
		s.step(x.a, func(m *Machine) { m.Start(Flags, ^(uint64(1) << x.a), s.quorum) })
	case "crash":
		s.crashes--
		s.crashed[x.a] = true
		s.packets = slices.DeleteFunc(s.packets, func(p packet) bool { return p.to == x.a })
	case "tell":
		if !s.crashed[x.b] {
			s.mistakes--
		}
		s.told[x.a].add(x.b)
		s.step(x.a, func(m *Machine) { m.Gone(x.b, true) })
	default:
		p := s.packets[x.a]
		s.packets = slices.Delete(s.packets, x.a, x.a+1)
		if x.kind == "deliver" {
			s.step(p.to, func(m *Machine) { s.take(m, p) })
		}
	}
}

func (e *event) String() string {
	switch e.kind {
	case "deliver", "lose":
		p := e.packet
		return fmt.Sprintf("%s %d→%d kind %d round %d adopted %d %v", e.kind, p.from, p.to, p.Kind, p.Round, p.Adopted,
			p.Value)
	case "tell":
		return fmt.Sprintf("tell %d that %d is dead", e.a, e.b)
	}
	return fmt.Sprintf("%s %d", e.kind, e.a)
}

func (s *simulation) take(m *Machine, p packet) {
	if s.flaw.take == nil || !s.flaw.take(m, p.from, &p.Message) {
		m.Take(p.from, p.Message)
	}
}

// step has something happen to member p, and collects what it sends.
func (s *simulation) step(p int, f func(m *Machine)) {
	m := s.machines[p]
	decided := m.decided
	f(m)
	for out := m.Outgoing(); len(out) > 0; out = m.Outgoing() {
		for _, e := range out {
			if s.flaw.sent != nil && !s.flaw.sent(m, e, decided) {
				continue
			}
			if !s.crashed[e.To] {
				s.put(p, e)
			}
		}
	}
}

// put adds a packet.
func (s *simulation) put(from int, e Envelope) {
	x := packet{from, e.To, e.Message, string(append(e.encode(len(s.machines)), byte(from), byte(e.To)))}
	i, _ := slices.BinarySearchFunc(s.packets, x, func(x, y packet) int { return strings.Compare(x.text, y.text) })
	s.packets = slices.Insert(s.packets, i, x)
}

// check returns what is wrong with the values that members have returned, those included that have crashed since.
func (s *simulation) check() error {
	var first *Machine
	for _, m := range s.machines {
		if !m.decided {
			continue
		}
		if first == nil {
			first = m
		}
		if !m.value.equal(first.value) {
			return fmt.Errorf("member %d returned %v, and member %d %v", first.me, first.value, m.me, m.value)
		}
	}
	if first == nil || s.mistaken {
		return nil
	}
	for p := range s.machines {
		gone, given := first.value.Gone.Has(p), first.value.Flags>>p&1 == 0
		if gone && !s.crashed[p] || !gone && !given || given && !s.started[p] {
			return fmt.Errorf("member %d in %v: crashed %v, started %v", p, first.value, s.crashed[p], s.started[p])
		}
	}
	return nil
}

// checkEnd is called when nothing can happen any more.
func (s *simulation) checkEnd() error {
	if s.mistaken {
		return nil
	}
	for p, m := range s.machines {
		if !s.crashed[p] && !m.decided && !m.lost {
			return fmt.Errorf("member %d waits for %v for ever", p, m.Waiting())
		}
	}
	return nil
}

// failure returns err with what has led to it.
func (s *simulation) failure(err error) error {
	text := ""
	for e := s.history; e != nil; e = e.before {
		text = "\n  " + e.String() + text
	}
	return fmt.Errorf("%w\nafter:%s", err, text)
}

// The planted bugs.
var (
	noAdoptPhase = flaw{name: "no adopt phase", sent: func(m *Machine, e Envelope, _ bool) bool {
		if e.Kind == Propose {
			m.Take(e.To, Message{Kind: Adopted, Round: m.me})
		}
		return true
	}}
	noRounds = flaw{name: "forgets round numbers", take: func(m *Machine, from int, msg *Message) bool {
		if msg.Kind != Propose || !m.started || m.decided {
			return false
		}
		m.adopted, m.value = msg.Round+1, msg.Value
		m.send(from, Adopted)
		return true
	}}
	forgetsAdopted = flaw{name: "forgets what was adopted", take: func(_ *Machine, _ int, msg *Message) bool {
		if msg.Kind == State {
			msg.Adopted = 0
		}
		return false
	}}
	anyAdopted = flaw{name: "takes any adopted value for the last one", take: func(_ *Machine, _ int, msg *Message) bool {
		if msg.Kind == State {
			msg.Adopted = min(msg.Adopted, 1)
		}
		return false
	}}
	noAnswers = flaw{name: "does not answer once it has decided", sent: func(_ *Machine, e Envelope, decided bool) bool {
		return !decided || e.Kind != Decide
	}}
	firstAnswer = flaw{name: "does not wait for all", take: func(m *Machine, _ int, msg *Message) bool {
		if msg.Kind == Adopted && m.proposed && !m.decided {
			m.decide(m.value)
		}
		return false
	}}
)
