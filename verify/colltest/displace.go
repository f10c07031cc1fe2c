package colltest

import (
	"math/rand/v2"

	"github.com/collgen/collgen/spec"
)

// displace sets where the blocks of all buffers begin: one after the other, or in another order with gaps between them.
// In place, blocks that In and Out share begin at the same place of both.
func (s *Step) displace(x *spec.Expectation, sh *shape) {
	sh.inStarts, sh.outStarts = nil, nil
	for rank := range x.Ranks {
		r := &x.Ranks[rank]
		in, out := inOrder(sh.in[rank]), inOrder(sh.out[rank])
		if s.Displaced != 0 {
			random := rand.New(rand.NewPCG(s.Displaced, uint64(rank)))
			gap := 0
			if s.Displaced%gapsThatAreLong == 0 {
				gap = longGap
			}
			in, out = mixedUp(random, sh.in[rank], gap), mixedUp(random, sh.out[rank], gap)
			if s.InPlace && len(in) == len(out) && r.InBlock >= 0 {
				out = in
			}
		}
		sh.inStarts, sh.outStarts = append(sh.inStarts, in), append(sh.outStarts, out)
	}
}

// inOrder returns where blocks begin that lie one after the other.
func inOrder(counts []int) []int {
	starts, at := make([]int, len(counts)), 0
	for b, n := range counts {
		starts[b] = at
		at += n
	}
	return starts
}

// One of so many displaced calls has a gap that is so long that 16 bits cannot count its elements.
const gapsThatAreLong, longGap = 8, 1<<16 + 3

// mixedUp returns where blocks begin that lie in another order, with gaps of up to three elements, and a longer one
// after the first block. A buffer of one block has none.
func mixedUp(random *rand.Rand, counts []int, gap int) []int {
	if len(counts) < 2 {
		return inOrder(counts)
	}
	starts, at := make([]int, len(counts)), random.IntN(2)
	for _, b := range random.Perm(len(counts)) {
		starts[b] = at
		at += counts[b] + random.IntN(4) + gap
		gap = 0
	}
	return starts
}
