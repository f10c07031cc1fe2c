package readback

import (
	"fmt"
	"maps"
	"slices"

	"github.com/collgen/collgen/spec"
)

// largest is the largest number of ranks for which it is looked at who needs whom.
const largest = 9

// waits says, by the names that the runtime has for it, which rank's call cannot end before which other's has begun.
var waits = map[string]func(rank, other, root int) bool{
	"":             func(_, _, _ int) bool { return false },
	"RootNeedsAll": func(rank, _, root int) bool { return rank == root },
	"AllNeedLower": func(rank, other, _ int) bool { return other < rank },
	"AllNeedRoot":  func(_, other, root int) bool { return other == root },
	"AllNeedAll":   func(_, _, _ int) bool { return true },
}

// checkNeeds compares what the table says of who needs whom with p: it has to be so, and no more than that.
func checkNeeds(p spec.Primitive, needs string) error {
	said, ok := waits[needs]
	if !ok {
		return fmt.Errorf("the table says %s", needs)
	}
	if slices.Contains(p.Params, spec.ParamPeer) || p.IsUneven() {
		if needs != "" {
			return fmt.Errorf("the table says %s of a call of two ranks, or of blocks that may be empty", needs)
		}
		return nil
	}
	if !holds(p, said) {
		return fmt.Errorf("the table says %s, which the specification does not", needs)
	}
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		more := waits[name]
		implies := func(rank, other, root int) bool { return said(rank, other, root) || more(rank, other, root) }
		if !same(p, said, implies) && holds(p, more) && same(p, more, implies) {
			return fmt.Errorf("the table says %q where the specification says %s", needs, name)
		}
	}
	return nil
}

// same reports whether two say the same of three ranks, of which any may be the root if p has one.
func same(p spec.Primitive, x, y func(rank, other, root int) bool) bool {
	rooted := slices.Contains(p.Params, spec.ParamRoot)
	for i := range 27 {
		rank, other, root := i/9, i/3%3, i%3
		if root > 0 && !rooted {
			continue
		}
		if rank != other && x(rank, other, root) != y(rank, other, root) {
			return false
		}
	}
	return true
}

// holds reports whether in all calls that are allowed, of which there is one, the result of a rank depends on each
// other rank that said names.
func holds(p spec.Primitive, said func(rank, other, root int) bool) bool {
	calls := 0
	for size := 2; size <= largest; size++ {
		roots := 1
		if slices.Contains(p.Params, spec.ParamRoot) {
			roots = size
		}
		for root := range roots {
			e, err := spec.Expect(p, spec.Call{Size: size, Root: root})
			if err != nil {
				continue
			}
			calls++
			for rank, x := range e.Ranks {
				for other := range size {
					if other != rank && said(rank, other, root) && !dependsOn(x, other) {
						return false
					}
				}
			}
		}
	}
	return calls > 0
}

// dependsOn reports whether a rank's result holds the input of another one, or promises that this one has entered.
func dependsOn(x spec.RankExpectation, other int) bool {
	of := func(c spec.Content) bool {
		return slices.ContainsFunc(c.Terms, func(t spec.Term) bool { return t.Rank == other })
	}
	return slices.ContainsFunc(x.Out, of) || slices.ContainsFunc(x.In, of) || slices.Contains(x.Entered, other)
}
