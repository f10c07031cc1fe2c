package colltest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// kinds lists the kinds of values, from simple to difficult.
var kinds = []spectest.Kind{spectest.Ordinary, spectest.Whole, spectest.Special, spectest.AnyBits, spectest.Mixed}

// leads lists the offsets of buffers from their alignment, in elements.
var leads = []int{0, 0, 1, 2, 3, 5, 8, 13, 17}

// guards lists the numbers of known bytes around buffers; 0: the least.
var guards = []int{0, 0, 0, 1 << 10, 1 << 12}

// drawCase returns a random case on size ranks: one to three calls of a primitive, two to six calls of several, or many
// short ones that start while a rank is late.
func drawCase(random *rand.Rand, can *Capabilities, of []Support, size int) Case {
	if random.IntN(8) == 0 {
		return drawBurst(random, can, of, size)
	}
	if send := slices.IndexFunc(of, isSend); can.Tags && can.Started && send >= 0 && random.IntN(min(8, 2*len(of))) == 0 {
		return (&messaging{random, can, of, of[send], size}).one()
	}
	if can.Split && can.Started && size > 1 && random.IntN(10) == 0 {
		return drawTwins(random, can, of, size, false)
	}
	c := Case{Size: size}
	least, most := 1, 3
	if len(of) > 1 {
		least, most = 2, 6
	}
	modes := []Mode{Blocking}
	if random.IntN(2) == 0 {
		modes = append(modes, can.modes()...)
		c.Order = uint64(random.Uint32())
	}
	if can.Split && size > 1 && random.IntN(3) == 0 {
		c.Comms = drawComms(random, size)
		most += 4
	}
	for range least + random.IntN(most-least+1) {
		c.draw(random, can, of, modes)
	}
	if len(c.Steps) == 0 {
		c.Comms = nil
		c.draw(random, can, of, modes)
	}
	if !slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Mode != Blocking }) {
		c.Order = 0
	}
	return c
}

// draw adds a call of all ranks, or of one of the communicators of c, if it has calls of one of these primitives.
func (c *Case) draw(random *rand.Rand, can *Capabilities, of []Support, modes []Mode) {
	at := Step{Comm: random.IntN(len(c.Comms) + 1)}
	if at.Comm > 0 {
		at.Color = pick(random, c.Comms[at.Comm-1].colors())
	}
	size := len(c.members(&at))
	here := callable(can, of, size)
	if len(here) == 0 {
		return
	}
	s := drawStep(random, can, pick(random, here), size)
	s.Comm, s.Color, s.Mode = at.Comm, at.Color, pick(random, modes)
	if s.Primitive == spec.Send.Name && can.Tags && s.Mode != Persistent && random.IntN(2) == 0 {
		s.Tag = 1 + random.IntN(5)
	}
	if s.Mode == Persistent {
		s.Repeat = 1 + random.IntN(4)
	}
	c.Steps = append(c.Steps, s)
}

func pick[E any](random *rand.Rand, from []E) E { return from[random.IntN(len(from))] }

// calls returns the calls of p with all roots and peers that p does not refuse.
func calls(p spec.Primitive, size int) (all []spec.Call) {
	roots, peers := 1, 1
	if slices.Contains(p.Params, spec.ParamRoot) {
		roots = size
	}
	if slices.Contains(p.Params, spec.ParamPeer) {
		peers = size
	}
	for root := range roots {
		for peer := range peers {
			c := spec.Call{Size: size, Root: root, Peer: peer}
			var refused *spec.RefusedError
			if _, err := spec.Expect(p, c); !errors.As(err, &refused) {
				all = append(all, c)
			}
		}
	}
	return all
}

func drawStep(random *rand.Rand, can *Capabilities, of Support, size int) Step {
	p := of.Primitive
	kind := pick(random, can.reductions(p))
	call := pick(random, calls(p, size))
	s := Step{Primitive: p.Name, Type: kind.Type, Op: kind.Op, Root: call.Root, Peer: call.Peer}
	if hasBuffers(p) {
		s.InPlace = pick(random, of.forms())
		s.Count = pick(random, can.counts(size))
		if of.Uneven && random.IntN(2) == 0 {
			s.drawCounts(random, p, size, can)
			if of.Displaced && random.IntN(3) == 0 {
				s.Displaced = uint64(1 + random.IntN(1000))
			}
		}
		s.Lead, s.Guard = pick(random, leads), pick(random, guards)
		s.Values.Kind, s.Values.Seed = pick(random, kinds), uint64(random.Uint32())
		s.Values.Keep = random.IntN(4) == 0
	}
	s.tame(can)
	s.drawDelay(random, size)
	return s
}

// tame excludes values whose results the implementation does not promise. If they are to be kept, NaN and -0 stay.
func (s *Step) tame(can *Capabilities) {
	if s.Op.Floats() == spec.Selects && s.Type.Precision() > 0 {
		s.Values.NoNaN, s.Values.NoMinusZero = !can.NaN, !can.MinusZero
	}
	s.Values.Keep = s.Values.Keep && (s.Values.NoNaN || s.Values.NoMinusZero)
	if s.Op.Floats() == spec.Rounds && s.Type.Precision() == 0 {
		s.Values.NoOverflow = !can.Overflow
	}
}

// forms returns the supported forms: out of place, in place, or both. Without buffers there is one.
func (s *Support) forms() (inPlace []bool) {
	if s.Apart || !hasBuffers(s.Primitive) {
		inPlace = append(inPlace, false)
	}
	if s.InPlace {
		inPlace = append(inPlace, true)
	}
	return inPlace
}

// drawCounts draws a count for each group of blocks that need the same length: mostly short ones, and in some calls
// none, one, and so many that transports cut messages.
func (s *Step) drawCounts(random *rand.Rand, p spec.Primitive, size int, can *Capabilities) {
	x, err := spec.Expect(p, s.call(size))
	if err != nil {
		return // the call with even counts reports the error
	}
	_, classes := alike(x, s.InPlace)
	lengths := make([]int, classes)
	apart := random.IntN(4) == 0
	for i := range lengths {
		more := random.IntN(1 + random.IntN(40))
		if apart {
			more = pick(random, []int{0, 0, 1, 1000, 70001 / size})
		}
		lengths[i] = can.within(can.LeastCount + more)
	}
	s.setCounts(x, lengths)
}

// counts returns lengths of blocks in elements: all small ones, some that make chunks uneven, primes, one so long that
// transports cut messages, and the least.
func (c *Capabilities) counts(size int) (all []int) {
	for n := range 34 {
		all = append(all, n)
	}
	all = append(all, 61, 64, 127, 128, 129, 251, 1021, 4099, 70001/size, c.LeastCount)
	all = slices.DeleteFunc(all, func(n int) bool { return n != c.within(n) })
	slices.Sort(all)
	return slices.Compact(all)
}

// drawDelay delays one rank in some calls of several. For a primitive without buffers, delays are all that a test can
// vary.
func (s *Step) drawDelay(random *rand.Rand, size int) {
	if size == 1 {
		return
	}
	const ms = time.Millisecond
	long := pick(random, []time.Duration{2 * ms, 2 * ms, 2 * ms, 5 * ms})
	delays := []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100 * time.Microsecond, ms, ms, long}
	if p, _ := primitiveNamed(s.Primitive); !hasBuffers(p) {
		delays = []time.Duration{0, ms, 3 * ms}
	}
	if s.Delay = pick(random, delays); s.Delay > 0 {
		s.Late = random.IntN(size)
	}
}
