package colltest

import (
	"fmt"

	"github.com/collgen/collgen/spec"
)

// shape is the number of elements in each block, by rank. The length of a block of Out follows from the specification
// and the lengths of the inputs, so that uneven counts are given only for inputs.
type shape struct {
	in, out             [][]int
	inStarts, outStarts [][]int // the element at which each block begins
}

// shape returns the shape of a call with expectation x. It returns an error if blocks that are combined, or share
// memory, differ in length.
func (s *Step) shape(x *spec.Expectation) (sh shape, err error) {
	if sh.in, err = s.inputCounts(x); err != nil {
		return sh, err
	}
	for rank := range x.Ranks {
		r := &x.Ranks[rank]
		out := make([]int, len(r.Out))
		for b, c := range r.Out {
			if out[b], err = sh.length(c, s.Count); err != nil {
				return sh, fmt.Errorf("rank %d, block %d of out: %w", rank, b, err)
			}
		}
		for b := range r.In {
			if o, shared := r.Aliased(b); s.InPlace && shared && out[o] != sh.in[rank][b] {
				return sh, fmt.Errorf("rank %d: in place, block %d of in has %d elements, and block %d of out %d", rank, b,
					sh.in[rank][b], o, out[o])
			}
		}
		sh.out = append(sh.out, out)
	}
	s.displace(x, &sh)
	return sh, nil
}

func (s *Step) inputCounts(x *spec.Expectation) (counts [][]int, err error) {
	if s.Counts != nil && len(s.Counts) != len(x.Ranks) {
		return nil, fmt.Errorf("counts of %d ranks, not %d", len(s.Counts), len(x.Ranks))
	}
	for rank := range x.Ranks {
		n := len(x.Ranks[rank].In)
		if s.Counts == nil {
			counts = append(counts, repeat(s.Count, n))
			continue
		}
		if len(s.Counts[rank]) != n {
			return nil, fmt.Errorf("rank %d: %d counts for %d blocks", rank, len(s.Counts[rank]), n)
		}
		counts = append(counts, s.Counts[rank])
	}
	for rank, blocks := range counts {
		for _, n := range blocks {
			if n < 0 || n > mostElements {
				return nil, fmt.Errorf("rank %d: a block of %d elements", rank, n)
			}
		}
	}
	return counts, nil
}

// mostElements is the limit of a block, so that a handwritten Case cannot take all memory.
const mostElements = 1 << 29

func repeat(x, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = x
	}
	return all
}

// length returns the number of elements of a block with content c.
func (sh *shape) length(c spec.Content, otherwise int) (int, error) {
	if len(c.Terms) == 0 {
		return otherwise, nil
	}
	n := sh.of(c.Terms[0])
	for _, t := range c.Terms[1:] {
		if sh.of(t) != n {
			return 0, fmt.Errorf("it combines blocks of %d and %d elements", n, sh.of(t))
		}
	}
	return n, nil
}

func (sh *shape) of(t spec.Term) int { return sh.in[t.Rank][t.Block] }

// alike numbers the blocks of all inputs from 0, with the same number for blocks that need the same length. A rank that
// passes one block, and gets one reduction, gets as much as it passes.
func alike(x *spec.Expectation, inPlace bool) (class map[spec.Term]int, classes int) {
	parent := map[spec.Term]spec.Term{}
	find := func(t spec.Term) spec.Term {
		for parent[t] != t {
			t = parent[t]
		}
		return t
	}
	for rank := range x.Ranks {
		for b := range x.Ranks[rank].In {
			parent[spec.Term{Rank: rank, Block: b}] = spec.Term{Rank: rank, Block: b}
		}
	}
	for rank := range x.Ranks {
		r := &x.Ranks[rank]
		for _, c := range r.Out {
			for i := range c.Terms {
				parent[find(c.Terms[i])] = find(c.Terms[0])
			}
		}
		for b := range r.In {
			if o, shared := r.Aliased(b); inPlace && shared && len(r.Out[o].Terms) > 0 {
				parent[find(spec.Term{Rank: rank, Block: b})] = find(r.Out[o].Terms[0])
			}
		}
	}
	for rank := range x.Ranks {
		r := &x.Ranks[rank]
		if len(r.In) == 1 && len(r.Out) == 1 && len(r.Out[0].Terms) > 0 && r.Out[0].Kind == spec.Fold {
			parent[find(spec.Term{Rank: rank})] = find(r.Out[0].Terms[0])
		}
	}
	class, numbers := map[spec.Term]int{}, map[spec.Term]int{}
	for rank := range x.Ranks {
		for b := range x.Ranks[rank].In {
			t := spec.Term{Rank: rank, Block: b}
			root := find(t)
			if _, numbered := numbers[root]; !numbered {
				numbers[root] = len(numbers)
			}
			class[t] = numbers[root]
		}
	}
	return class, len(numbers)
}

// hasUneven reports whether blocks of p can differ in length. If they can, they can on three ranks.
func hasUneven(p spec.Primitive) bool {
	x, err := spec.Expect(p, spec.Call{Size: 3, Peer: 1})
	if err != nil {
		return false
	}
	_, classes := alike(x, false)
	return classes > 1
}
