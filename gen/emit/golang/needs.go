package golang

import (
	"errors"
	"slices"

	"github.com/collgen/collgen/spec"
)

// patterns are the values of exec.Needs, the ones that say most first, and which rank needs which.
var patterns = []struct {
	name  string
	needs func(rank, other, root int) bool
}{
	{"AllNeedAll", func(_, _, _ int) bool { return true }},
	{"AllNeedLower", func(rank, other, _ int) bool { return other < rank }},
	{"AllNeedRoot", func(_, other, root int) bool { return other == root }},
	{"RootNeedsAll", func(rank, _, root int) bool { return rank == root }},
}

// needsOf returns the name of the first pattern that p fits for all sizes that are proved, and every root; "" if there
// is none, p makes no sense, or blocks are uneven: then some may be empty, which nobody waits for.
func needsOf(p spec.Primitive) string {
	if p.IsUneven() {
		return ""
	}
	for _, pattern := range patterns {
		if fits(p, pattern.needs) {
			return pattern.name
		}
	}
	return ""
}

// fits reports whether some call of p is allowed, and all that are need what needs says.
func fits(p spec.Primitive, needs func(rank, other, root int) bool) (allowed bool) {
	if slices.Contains(p.Params, spec.ParamPeer) {
		return false
	}
	for size := 2; size <= maxNeeds; size++ {
		for root := range roots(p, size) {
			e, err := spec.Expect(p, spec.Call{Size: size, Root: root})
			var refused *spec.RefusedError
			switch {
			case errors.As(err, &refused):
				continue
			case err != nil || !meets(e, root, needs):
				return false
			}
			allowed = true
		}
	}
	return allowed
}

// maxNeeds is the largest size for which the needs of a primitive are worked out.
const maxNeeds = 64

// roots returns how many roots a call among size ranks may have.
func roots(p spec.Primitive, size int) int {
	if slices.Contains(p.Params, spec.ParamRoot) {
		return size
	}
	return 1
}

// meets reports whether every rank depends on all others on which needs says that it does.
func meets(e *spec.Expectation, root int, needs func(rank, other, root int) bool) bool {
	for rank := range e.Ranks {
		on := dependsOn(&e.Ranks[rank], len(e.Ranks))
		for other := range e.Ranks {
			if other != rank && needs(rank, other, root) && !on[other] {
				return false
			}
		}
	}
	return true
}

// dependsOn returns the ranks that have to begin before r's call ends: those whose input is in its result, and those
// that it meets.
func dependsOn(r *spec.RankExpectation, size int) []bool {
	on := make([]bool, size)
	for _, blocks := range [][]spec.Content{r.In, r.Out} {
		for _, b := range blocks {
			for _, t := range b.Terms {
				on[t.Rank] = true
			}
		}
	}
	for _, rank := range r.Entered {
		on[rank] = true
	}
	return on
}
