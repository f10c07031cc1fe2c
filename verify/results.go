package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// checkResults runs the schedule and compares what all ranks hold in the end with what the primitive promises. Blocks
// that are to stay as they were have not been written to: frame saw to that.
func (c *checker) checkResults() *Failure {
	c.run()
	c.folds.reset()
	c.report.Order = spec.RankOrdered
	for rank := range c.want.Ranks {
		r := &c.want.Ranks[rank]
		for b := range r.In {
			if _, shared := r.Aliased(b); c.inPlace && shared {
				continue // Out's promise holds
			}
			if f := c.holds(rank, spec.In, b, &r.In[b]); f != nil {
				return f
			}
		}
		for b := range r.Out {
			if f := c.holds(rank, spec.Out, b, &r.Out[b]); f != nil {
				return f
			}
		}
	}
	if c.report.Folds = len(c.folds.list) > 0; !c.report.Folds {
		c.report.Order = spec.AnyTree
	}
	return nil
}

// holds compares one block with its promised content.
func (c *checker) holds(rank int, buf spec.Buf, block int, want *spec.Content) *Failure {
	start := c.base[number(buf)][rank] + int32(block)*c.chunks
	var f *fold
	if want.Kind == spec.Fold {
		f = c.folds.find(want.Terms, c.chunks)
	}
	for i := range c.chunks {
		var bad *Failure
		switch got := c.mem[start+i]; want.Kind {
		case spec.Input:
			bad = c.isLeafOf(got, want.Terms[0], i)
		case spec.Fold:
			bad = c.isFold(got, f, i)
		}
		if bad != nil {
			bad.Place = gen.Place{Buf: buf, At: block*c.s.Chunks + int(i), N: 1, Like: int(i)}
			c.blame(bad, rank, start+i)
			return bad
		}
	}
	return nil
}

// blame says in f who wrote the cell last.
func (c *checker) blame(f *Failure, rank int, cell int32) {
	f.Rank = rank
	for _, g := range slices.Backward(c.order) {
		if c.writesCell(g, cell) && !c.isNothing(&c.ins[g]) {
			f.locate(c.s, rank, int(g-c.first[rank]))
			return
		}
	}
	f.Trace = "nothing writes this place\n"
}

func (c *checker) isLeafOf(got int32, t spec.Term, i int32) *Failure {
	want := c.leaf(t, i)
	if got == want {
		return nil
	}
	return c.wrong(Postcondition, c.leafText(want), got)
}

// wrong returns a Failure about a value; one that depends on memory without a value is that in the first place.
func (c *checker) wrong(check Check, want string, got int32) *Failure {
	f := c.failure(check, -1)
	f.Expected, f.Got = want, c.treeText(got)
	leaves, _, _ := c.leaves(got, c.s.Size)
	for _, l := range leaves {
		if rank, p := c.owner(l); !c.isInput(rank, p) {
			f.Check = Uninitialized
		}
	}
	return f
}

func (f *folds) reset() { f.list, f.next = f.list[:0], 0 }

// find returns the fold of terms.
func (f *folds) find(terms []spec.Term, chunks int32) *fold {
	for k := range f.list {
		at := (f.next + k) % len(f.list)
		if slices.Equal(f.list[at].terms, terms) {
			f.next = at + 1
			return &f.list[at]
		}
	}
	f.list = slices.Grow(f.list, 1)[:len(f.list)+1]
	x := &f.list[len(f.list)-1]
	x.terms, x.trees = terms, resized(x.trees, int(chunks))
	for i := range x.trees {
		x.trees[i] = -1
	}
	return x
}

// isFold checks that got is a finished reduction of chunk i of each term, once, in an allowed order, and the same for
// all ranks where that is promised.
func (c *checker) isFold(got int32, f *fold, i int32) *Failure {
	first := f.trees[i]
	if got == first {
		return nil
	}
	if bad := c.judge(got, f, i); bad != nil {
		return bad
	}
	if first < 0 {
		f.trees[i] = got
		return nil
	}
	c.report.Order = spec.AnyTree
	if c.s.Primitive.Order >= spec.SameTree {
		return c.wrong(Order, "the tree of the ranks before it, "+c.treeText(first), got)
	}
	return nil
}

// judge checks one tree by itself.
func (c *checker) judge(got int32, f *fold, i int32) *Failure {
	tree, isFinished := got, false
	if !c.isLeaf(got) {
		if left, right := c.operands(got); right == finished {
			tree, isFinished = left, true
		}
	}
	leaves, leftFold, hasFinished := c.leaves(tree, len(f.terms))
	terms := c.terms(f, i)
	inOrder := slices.Equal(leaves, terms)
	switch {
	case !inOrder && !sameMultiset(leaves, terms):
		bad := c.wrong(Postcondition, c.foldText(f, i), got)
		bad.Got += c.difference(leaves, terms)
		return bad
	case !isFinished || hasFinished:
		return c.wrong(Finish, c.foldText(f, i), got)
	case !inOrder && !c.s.Requires.Commutative:
		return c.wrong(Order, c.foldText(f, i)+", in rank order: the algorithm does not require a commutative operator", got)
	case inOrder && leftFold:
		return nil
	case c.s.Primitive.Order >= spec.RankOrdered:
		return c.wrong(Order, c.foldText(f, i)+", as a left fold in rank order", got)
	}
	c.report.Order = min(c.report.Order, spec.SameTree)
	return nil
}

// terms returns the leaves of chunk i of each term of f.
func (c *checker) terms(f *fold, i int32) []int32 {
	list := c.folds.wanted[:0]
	for _, t := range f.terms {
		list = append(list, c.leaf(t, i))
	}
	c.folds.wanted = list
	return list
}

// sameMultiset reports whether a and b have the same elements, each equally often.
func sameMultiset(a, b []int32) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (c *checker) foldText(f *fold, i int32) string {
	first := c.leafText(c.leaf(f.terms[0], i))
	last := c.leafText(c.leaf(f.terms[len(f.terms)-1], i))
	switch len(f.terms) {
	case 1:
		return "finish " + first
	case 2:
		return "finish of " + first + " and " + last + ", each once"
	}
	return fmt.Sprintf("finish of %d operands, each once: %s, …, %s", len(f.terms), first, last)
}

// difference says which leaves are not in a tree as often as they should be.
func (c *checker) difference(got, want []int32) string {
	have, wanted := count(got), count(want)
	var b strings.Builder
	for _, l := range slices.Sorted(maps.Keys(union(have, wanted))) {
		switch {
		case b.Len() > maxTreeText:
			return b.String() + "; …"
		case have[l] == wanted[l]:
		case have[l] == 0:
			fmt.Fprintf(&b, "; %s is missing", c.leafText(l))
		case wanted[l] == 0:
			fmt.Fprintf(&b, "; %s does not belong in it", c.leafText(l))
		default:
			fmt.Fprintf(&b, "; %s is in it %d times", c.leafText(l), have[l])
		}
	}
	return b.String()
}

func count(list []int32) map[int32]int {
	n := make(map[int32]int)
	for _, x := range list {
		n[x]++
	}
	return n
}

func union(a, b map[int32]int) map[int32]int {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}
