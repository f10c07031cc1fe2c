package colltest

import (
	"math/rand/v2"
	"time"

	"github.com/collgen/collgen/spec"
)

// This file draws cases of calls that are under way at the same time.

// drawBurst returns a case of 9 to 72 short calls, in one mode: more than a power of two. A rank that is not the root
// comes late to the first of them, so that the others are ahead of it by as many calls as they can be.
func drawBurst(random *rand.Rand, can *Capabilities, of []Support, size int) Case {
	c := drawShort(random, can, of, size, 9<<random.IntN(4))
	if size == 1 {
		return c
	}
	first := &c.Steps[0]
	first.Delay = time.Duration(5+random.IntN(8)) * time.Millisecond
	first.Late = (first.Root + 1 + random.IntN(size-1)) % size
	return c
}

// drawShort returns a case of so many short calls, in one mode.
func drawShort(random *rand.Rand, can *Capabilities, of []Support, size, calls int) Case {
	c, mode := Case{Size: size}, pick(random, append(can.modes(), Blocking))
	for range min(len(of), 4) {
		s := drawStep(random, can, pick(random, of), size)
		s.Counts, s.Displaced, s.Delay, s.Late = nil, 0, 0, 0
		s.Count = min(can.within(s.Count), can.LeastCount+4)
		s.Repeat, s.Mode = max(2, calls/min(len(of), 4)), mode
		c.Steps = append(c.Steps, s)
	}
	if mode != Blocking {
		c.Order = uint64(random.Uint32())
	}
	return c
}

// onOneComm returns a case of short calls on a communicator that has made none before.
func onOneComm(random *rand.Rand, can *Capabilities, of []Support, size int) Case {
	c := drawShort(random, can, of, size, manyOnComm)
	c.Comms = []Split{inOneGroup(random, size)}
	for i := range c.Steps {
		c.Steps[i].Comm = 1
	}
	return c
}

// manyOnComm is how many calls a communicator has to make: more than a power of two.
const manyOnComm = 45

func isSend(x Support) bool { return x.Primitive.Name == spec.Send.Name }

// tags are those of messages: some differ in few bits, and the last one is the largest that every MPI has.
var tags = []int{0, 1, 2, 3, 17, 18, 257, 258, 16383, 32767}

// tagBits are those in which tags may differ: without one of them, two are the same.
var tagBits = []int{0, 3, 7, 8, 11, 12, 13, 14, 14, 14}

// messageLengths are the lengths of messages: a short one may be faster than a long one before it.
var messageLengths = []int{0, 1, 7, 500, 9001}

// drawMessages returns a case of two to six messages between two ranks, in one mode. Those with different tags match in
// another order than they begin, and those with equal tags in the same. Some cases have tags that differ in one bit.
// Some have other started calls in between, on a new communicator whose calls have small numbers, as tags have. The
// messages are on it, too, or every second one, or it is made and freed beside them.
func drawMessages(random *rand.Rand, can *Capabilities, of []Support, send Support, size int) Case {
	c, order := Case{Size: size, Order: 1 + uint64(random.Uint32())}, random.Perm(len(tags))
	first, between := drawStep(random, can, send, size), can.Split && random.IntN(2) == 0
	mode := pick(random, append(can.modes(), Started, Started))
	base, family, onBoth := pick(random, tags), random.IntN(2) == 0, false
	if between {
		c.Comms = []Split{inOneGroup(random, size)}
		first.Comm = random.IntN(2)
		c.Comms[0].Between = first.Comm == 0
		if onBoth = random.IntN(2) == 0; onBoth {
			c.Comms[0].Keys = make([]int, size) // the ends have the same numbers on both
		}
	}
	for i := range 2 + random.IntN(5) {
		s := drawStep(random, can, send, size)
		s.Root, s.Peer, s.Comm, s.Mode = first.Root, first.Peer, first.Comm, mode
		s.Counts, s.Count = nil, can.within(pick(random, messageLengths))
		switch {
		case onBoth:
			if s.Tag, s.Comm = 1+random.IntN(3), i%2; i%2 == 1 {
				s.Tag = c.Steps[i-1].Tag
			}
		case between:
			s.Tag = 1 - first.Comm + random.IntN(4)
		case i > 0 && random.IntN(3) == 0:
			s.Tag = c.Steps[i-1].Tag
		case i > 0 && family:
			s.Tag = base ^ 1<<pick(random, tagBits)
		case family:
			s.Tag = base
		default:
			s.Tag = tags[order[i]]
		}
		if c.Steps = append(c.Steps, s); between && !onBoth && random.IntN(2) == 0 {
			other := drawStep(random, can, pick(random, of), size)
			other.Comm, other.Mode = 1, Started
			c.Steps = append(c.Steps, other)
		}
	}
	return c
}

// drawTwins returns a case of started calls on two communicators of the same ranks in turn, which begin in another
// order on some of these. They are alike if calls on the one are those on the other, but for their values.
func drawTwins(random *rand.Rand, can *Capabilities, of []Support, size int, alike bool) Case {
	all := inOneGroup(random, size)
	c := Case{Size: size, Comms: []Split{all, all}, Order: 1 + uint64(random.Uint32())}
	for i := range 2 + random.IntN(5) {
		s := drawStep(random, can, pick(random, of), size)
		if alike && i%2 == 1 {
			seed := s.Values.Seed
			s = c.Steps[i-1]
			s.Values.Seed = seed
		}
		s.Comm, s.Mode = 1+i%2, Started
		c.Steps = append(c.Steps, s)
	}
	return c
}

// inOneGroup returns a communicator of all ranks, in any order.
func inOneGroup(random *rand.Rand, size int) Split {
	return Split{Colors: make([]int, size), Keys: random.Perm(size)}
}

// onComms returns cases of calls on new communicators, and on several of them at once, of one primitive or of several.
func onComms(random *rand.Rand, can *Capabilities, of []Support, size int) (cases []Case) {
	if !can.Split || size == 1 {
		return nil
	}
	cases = append(cases, onOneComm(random, can, of, size))
	switch {
	case !can.Started:
		return cases
	case len(of) > 1:
		return append(cases, onManyComms(random, can, of, size))
	}
	for range 5 {
		cases = append(cases, drawTwins(random, can, of, size, true))
	}
	return cases
}

// manyComms is how many communicators are in use at once: more than a power of two.
const manyComms = 33

// onManyComms returns a case of a started call on each of many communicators of all ranks.
func onManyComms(random *rand.Rand, can *Capabilities, of []Support, size int) Case {
	c := Case{Size: size, Order: 1}
	for i := range manyComms {
		c.Comms = append(c.Comms, inOneGroup(random, size))
		s := drawStep(random, can, pick(random, of), size)
		s.Counts, s.Count, s.Delay, s.Late = nil, can.within(3), 0, 0
		s.Comm, s.Mode = 1+i, Started
		c.Steps = append(c.Steps, s)
	}
	return c
}

// plans returns cases of persistent calls of several primitives, some of which are closed before others are prepared,
// while still others are open.
func plans(random *rand.Rand, can *Capabilities, of []Support, size int) (cases []Case) {
	if !can.Persistent || len(of) == 1 {
		return nil
	}
	for range 3 {
		c := drawShort(random, can, of, size, 8+random.IntN(8))
		for i := range c.Steps {
			c.Steps[i].Mode = Persistent
		}
		c.Order = 2 + 2*uint64(random.Uint32())
		cases = append(cases, c)
	}
	return cases
}
