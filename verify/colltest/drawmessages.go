package colltest

import (
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/spec"
)

func isSend(x Support) bool { return x.Primitive.Name == spec.Send.Name }

// tags are those of messages: some differ in few bits, and the last one is the largest that every MPI has.
var tags = []int{0, 1, 2, 3, 17, 18, 257, 258, 16383, 32767}

// tagBits are those in which tags may differ alone: without one of them, two are the same.
var tagBits = []int{0, 3, 7, 8, 11, 12, 13, 14, 14, 14}

// messageLengths are the lengths of messages: a short one may be faster than a long one before it.
var messageLengths = []int{0, 1, 7, 500, 9001}

// messaging draws cases of two to six messages between two ranks, in one mode. Those with different tags match in
// another order than they begin, and those with equal tags in the same.
type messaging struct {
	random *rand.Rand
	can    *Capabilities
	of     []Support // of other calls
	send   Support
	size   int
}

// one returns a case of any kind.
func (m *messaging) one() Case {
	mode, kind := pick(m.random, append(m.can.modes(), Started, Started)), m.random.IntN(6)
	switch {
	case kind < 1:
		return m.tagged(mode)
	case kind < 3 || !m.can.Split:
		return m.alike(mode, pick(m.random, tagBits))
	case kind < 4:
		return m.onBoth(mode)
	}
	return m.beside(mode)
}

// messages returns cases of messages alone: with tags that differ in each of some bits, in the modes in turn, and with
// others on another communicator.
func messages(random *rand.Rand, can *Capabilities, of []Support, size int) (cases []Case) {
	if len(of) > 1 || !isSend(of[0]) || !can.Tags || !can.Started {
		return nil
	}
	m, modes := messaging{random, can, of, of[0], size}, append(can.modes(), Started)
	for i, bit := range tagBits {
		cases = append(cases, m.alike(modes[i%len(modes)], bit))
	}
	for i := 0; can.Split && i < 8; i++ {
		mode := Started
		if can.Batches && i >= 5 {
			mode = Batched
		}
		cases = append(cases, m.beside(mode))
	}
	if can.Split && size == 2 {
		cases = append(cases, m.amongNumbers())
	}
	return cases
}

// manyNumbers is how many communicators are made one after the other, so that a number of 8 bits comes again.
const manyNumbers = 260

// amongNumbers returns messages on the communicator of all ranks beside those on each of many that are made one after
// the other, with the same tags. Ranks begin them in different orders.
func (m *messaging) amongNumbers() Case {
	c := Case{Size: m.size, Order: 1 + uint64(m.random.Uint32())}
	first := drawStep(m.random, m.can, m.send, m.size)
	for i := range manyNumbers {
		split := inOneGroup(m.random, m.size)
		split.Between = true
		c.Comms = append(c.Comms, split)
		for k := range 6 {
			s := drawStep(m.random, m.can, m.send, m.size)
			s.Root, s.Peer, s.Mode, s.Delay, s.Late = first.Root, first.Peer, Started, 0, 0
			s.Counts, s.Count, s.Displaced = nil, m.can.within(1+k), 0
			s.Tag, s.Comm = 1+k/2, k%2*(1+i)
			c.Steps = append(c.Steps, s)
		}
	}
	return c
}

// amongLargeTags returns a case of started messages with the largest tags, both ways, under which a library may have
// messages of its own, and of blocking calls beside them.
func amongLargeTags(random *rand.Rand, can *Capabilities, of []Support, size int) []Case {
	send := slices.IndexFunc(of, isSend)
	if len(of) == 1 || send < 0 || !can.Tags || !can.Started || size != 2 {
		return nil
	}
	c := Case{Size: size, Order: 1}
	add := func(of Support, mode Mode) *Step {
		s := drawStep(random, can, of, size)
		s.Counts, s.Displaced, s.Count, s.Mode = nil, 0, can.within(1), mode
		c.Steps = append(c.Steps, s)
		return &c.Steps[len(c.Steps)-1]
	}
	for i := range 32 {
		s := add(of[send], Started)
		s.Tag, s.Root, s.Peer = tags[len(tags)-1]-i/2, i%2, 1-i%2
	}
	for _, x := range of {
		if !isSend(x) {
			add(x, Blocking)
		}
	}
	return []Case{c}
}

// draw returns a case of messages. Finish gives each of them its tag, and returns what comes after it.
func (m *messaging) draw(mode Mode, c Case, finish func(i int, s *Step) []Step) Case {
	c.Size, c.Order = m.size, 1+uint64(m.random.Uint32())
	first := drawStep(m.random, m.can, m.send, m.size)
	for i := range 2 + m.random.IntN(5) {
		s := drawStep(m.random, m.can, m.send, m.size)
		s.Root, s.Peer, s.Mode = first.Root, first.Peer, mode
		s.Counts, s.Count, s.Displaced = nil, m.can.within(pick(m.random, messageLengths)), 0
		after := finish(i, &s)
		c.Steps = append(append(c.Steps, s), after...)
	}
	return c
}

// tagged returns messages with any tags.
func (m *messaging) tagged(mode Mode) Case {
	order, before := m.random.Perm(len(tags)), 0
	return m.draw(mode, Case{}, func(i int, s *Step) []Step {
		if s.Tag = tags[order[i]]; i > 0 && m.random.IntN(3) == 0 {
			s.Tag = before
		}
		before = s.Tag
		return nil
	})
}

// alike returns messages with two tags, which differ in one bit.
func (m *messaging) alike(mode Mode, bit int) Case {
	tag := pick(m.random, tags)
	return m.draw(mode, Case{}, func(i int, s *Step) []Step {
		if s.Tag = tag; i == 1 || i > 1 && m.random.IntN(2) == 0 {
			s.Tag ^= 1 << bit
		}
		return nil
	})
}

// onBoth returns messages on the communicator of all ranks and on another one, in turn and with the same tags. Their
// ends have the same numbers on both.
func (m *messaging) onBoth(mode Mode) Case {
	c, tag := Case{Comms: []Split{{Colors: make([]int, m.size), Keys: make([]int, m.size)}}}, 0
	return m.draw(mode, c, func(i int, s *Step) []Step {
		if s.Comm = i % 2; s.Comm == 0 {
			tag = 1 + m.random.IntN(3)
		}
		s.Tag = tag
		return nil
	})
}

// beside returns messages with other started calls in between, on a new communicator whose calls have small numbers, as
// the tags are. The messages are on it, too, or it is made and freed beside them.
func (m *messaging) beside(mode Mode) Case {
	c, comm := Case{Comms: []Split{inOneGroup(m.random, m.size)}}, m.random.IntN(2)
	c.Comms[0].Between = comm == 0
	return m.draw(mode, c, func(_ int, s *Step) (after []Step) {
		s.Comm, s.Tag = comm, 1-comm+m.random.IntN(4)
		if m.random.IntN(2) == 0 {
			other := drawStep(m.random, m.can, pick(m.random, m.of), m.size)
			if other.Comm, other.Mode = 1, Started; mode == Batched && m.random.IntN(2) == 0 {
				other.Mode = Batched
			}
			after = append(after, other)
		}
		return after
	})
}
