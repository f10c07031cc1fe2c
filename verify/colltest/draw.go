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
var kinds = []spectest.Kind{spectest.Ordinary, spectest.Special, spectest.AnyBits, spectest.Mixed}

// leads lists the offsets of buffers from their alignment, in elements.
var leads = []int{0, 0, 1, 2, 3, 5, 8, 13, 17}

// drawCase returns a random case of one primitive.
func drawCase(random *rand.Rand, can *Capabilities, of Support) Case {
	c := Case{Size: pick(random, can.sizesFor(of.Primitive))}
	for range 1 + random.IntN(3) {
		c.Steps = append(c.Steps, drawStep(random, can, of, c.Size))
	}
	return c
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
		s.Count = pick(random, counts(size, can.LeastCount))
		if of.Uneven && random.IntN(2) == 0 {
			s.drawCounts(random, p, size, can.LeastCount)
		}
		s.Lead = pick(random, leads)
		s.Values.Kind, s.Values.Seed = pick(random, kinds), uint64(random.Uint32())
	}
	s.tame(can)
	s.drawDelay(random, size)
	return s
}

// tame excludes values whose results the implementation does not promise.
func (s *Step) tame(can *Capabilities) {
	if s.Op.Floats() == spec.Selects && s.Type.Precision() > 0 {
		s.Values.NoNaN, s.Values.NoMinusZero = !can.NaN, !can.MinusZero
	}
	if s.Op.Floats() == spec.Rounds && s.Type.Precision() == 0 {
		s.Values.NoOverflow = !can.Overflow
	}
}

// forms returns the supported forms: out of place, in place, or both.
func (s *Support) forms() (inPlace []bool) {
	if s.Apart || !s.InPlace {
		inPlace = append(inPlace, false)
	}
	if s.InPlace {
		inPlace = append(inPlace, true)
	}
	return inPlace
}

// drawCounts draws a count for each group of blocks that need the same length.
func (s *Step) drawCounts(random *rand.Rand, p spec.Primitive, size, least int) {
	x, err := spec.Expect(p, s.call(size))
	if err != nil {
		return // the call with even counts reports the error
	}
	class, classes := alike(x, s.InPlace)
	lengths := make([]int, classes)
	for i := range lengths {
		lengths[i] = least + random.IntN(1+random.IntN(40))
	}
	s.Count, s.Counts = 0, make([][]int, len(x.Ranks))
	for rank := range x.Ranks {
		s.Counts[rank] = make([]int, len(x.Ranks[rank].In))
		for b := range s.Counts[rank] {
			s.Counts[rank][b] = lengths[class[spec.Term{Rank: rank, Block: b}]]
		}
	}
}

// counts returns lengths of blocks in elements: all small ones, some that make chunks uneven, primes, one so long that
// transports cut messages, and the least.
func counts(size, least int) (all []int) {
	for n := range 34 {
		all = append(all, n)
	}
	all = append(all, 61, 64, 127, 128, 129, 251, 1021, 4099, 70001/size, least)
	all = slices.DeleteFunc(all, func(n int) bool { return n < least })
	slices.Sort(all)
	return slices.Compact(all)
}

// drawDelay delays one rank in some calls. For a primitive without buffers, delays are all that a test can vary.
func (s *Step) drawDelay(random *rand.Rand, size int) {
	delays := []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 100 * time.Microsecond, time.Millisecond}
	if p, _ := primitiveNamed(s.Primitive); !hasBuffers(p) {
		delays = []time.Duration{0, time.Millisecond, 5 * time.Millisecond}
	}
	if s.Delay = pick(random, delays); s.Delay > 0 {
		s.Late = random.IntN(size)
	}
}
