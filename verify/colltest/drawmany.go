package colltest

import (
	"math/rand/v2"
	"time"
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
	first.Delay = time.Duration(2+random.IntN(4)) * time.Millisecond
	first.Late = (first.Root + 1 + random.IntN(size-1)) % size
	return c
}

// drawShort returns a case of so many short calls, in one mode.
func drawShort(random *rand.Rand, can *Capabilities, of []Support, size, calls int) Case {
	return drawShortIn(random, can, of, size, calls, pick(random, append(can.modes(), Blocking)))
}

// drawShortIn returns a case of so many short calls in a mode.
func drawShortIn(random *rand.Rand, can *Capabilities, of []Support, size, calls int, mode Mode) Case {
	c := Case{Size: size}
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

// open returns a case of more started calls at once than fit a byte. Few ranks do, since what counts calls is the same
// on more.
func open(random *rand.Rand, can *Capabilities, of []Support, size int) (cases []Case) {
	if !can.Started || size != 2 {
		return nil
	}
	return []Case{drawShortIn(random, can, of, size, 260, Started)}
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

// inOneGroup returns a communicator of all ranks, in any order. Some have keys that differ in their order if they lose
// bits.
func inOneGroup(random *rand.Rand, size int) Split {
	s := Split{Colors: make([]int, size), Keys: random.Perm(size)}
	if random.IntN(2) == 0 {
		for rank := range s.Keys {
			s.Keys[rank] = pick(random, wideKeys)
		}
	}
	return s
}

// onComms returns cases of calls on new communicators, and on several of them at once, of one primitive or of several.
func onComms(random *rand.Rand, can *Capabilities, of []Support, size int) (cases []Case) {
	if !can.Split || size == 1 {
		return nil
	}
	cases = append(cases, onOneComm(random, can, of, size))
	if size == 2 {
		cases = append(cases, onOneAfterTheOther(random, can, of, size))
	}
	switch {
	case !can.Started:
		return cases
	case len(of) > 1:
		cases = append(cases, onManyComms(random, can, of, size))
		if alone := callable(can, of, 1); size == 2 && len(alone) > 0 {
			cases = append(cases, onCommsOfOne(random, can, alone))
		}
		return cases
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

// onOneAfterTheOther returns a case of calls on many communicators, each of which is freed before the next one is made.
func onOneAfterTheOther(random *rand.Rand, can *Capabilities, of []Support, size int) Case {
	c := Case{Size: size}
	for i := range manyFreed {
		split := inOneGroup(random, size)
		split.Between = true
		c.Comms = append(c.Comms, split)
		s := drawStep(random, can, pick(random, of), size)
		s.Counts, s.Count, s.Delay, s.Late, s.Displaced = nil, can.within(1), 0, 0, 0
		s.Comm = 1 + i
		c.Steps = append(c.Steps, s)
	}
	return c
}

// onCommsOfOne returns a case of two ranks, which make and free many communicators of one rank each.
func onCommsOfOne(random *rand.Rand, can *Capabilities, of []Support) Case {
	c := Case{Size: 2}
	for i := range 2 * manyFreed {
		c.Comms = append(c.Comms, Split{Colors: []int{0, 1}, Keys: []int{0, 0}, Between: true})
		s := drawStep(random, can, pick(random, of), 1)
		s.Counts, s.Count, s.Delay, s.Late, s.Displaced = nil, can.within(1), 0, 0, 0
		s.Comm, s.Color = 1+i, i%2
		c.Steps = append(c.Steps, s)
	}
	return c
}

// manyFreed is how many communicators are made and freed: more than a power of two.
const manyFreed = 130

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
