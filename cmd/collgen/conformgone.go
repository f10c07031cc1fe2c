package main

import (
	"maps"
	"slices"

	"github.com/collgen/collgen/verify/colltest"
)

// This file says which known failures are gone, and which are left.

// gone returns those of the known failures that were tested in r, and do not fail any more, each with the types and ops
// of which that is so.
func (r *conformance) gone(known []knownFailure) (gone []knownFailure) {
	for _, k := range known {
		i := slices.IndexFunc(r.parts, func(p *part) bool { return p.name == k.part() })
		if i < 0 || !r.parts[i].isWhole() || !maps.EqualFunc(k.Environment, r.Environment.values(), equalValues) {
			continue
		}
		var seen []string
		isSeen := false
		for _, x := range r.Failures {
			if is := x.entry(r.Environment); k.standsFor(is, x.Failure.String()) {
				isSeen = true
				seen = append(seen, is.With...)
			}
		}
		if len(k.With) == 0 || slices.Contains(k.With, anyTypeOp) {
			if !isSeen && k.wasTested(r.parts[i], "") {
				gone = append(gone, k)
			}
			continue
		}
		with := slices.DeleteFunc(slices.Clone(k.With), func(typeOp string) bool {
			return slices.Contains(seen, typeOp) || !k.wasTested(r.parts[i], typeOp)
		})
		if len(with) > 0 {
			k.With = with
			gone = append(gone, k)
		}
	}
	return gone
}

func equalValues(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// part returns the name of the part that shows k.
func (k knownFailure) part() string {
	if k.Part != "" {
		return k.Part
	}
	return k.Primitive
}

// wasTested reports whether p has tried the form of k on so many ranks with a type and op, or with any if that is "".
func (k knownFailure) wasTested(p *part, typeOp string) bool {
	if p.isSeveral() {
		return true
	}
	if k.Kind == colltest.Hang && p.counts.Unconfirmed > 0 {
		return false // it may have been slow again
	}
	for name, x := range p.cells {
		if (typeOp == "" || name == typeOp) && x.ranks[k.Form] >= k.Ranks {
			return true
		}
	}
	return false
}

// baseline returns what is known after the runs: of the entries that there were, those that are not gone, and all that
// is new.
func (all *conformances) baseline(known []knownFailure) (list []knownFailure) {
	for _, k := range known {
		had := len(k.With)
		for _, r := range all.Runs {
			for _, g := range r.Gone {
				if k.same(g) && k.Note == g.Note {
					k.With = slices.DeleteFunc(slices.Clone(k.With), func(s string) bool { return slices.Contains(g.With, s) })
					had = max(had, 1) // one without types is gone, too
				}
			}
		}
		if len(k.With) > 0 || had == 0 {
			list = merge(list, k)
		}
	}
	for _, r := range all.Runs {
		for _, x := range r.Failures {
			k := x.entry(r.Environment)
			if x.New != nil {
				k.With = x.New
			}
			if !x.Known {
				list = merge(list, k)
			}
		}
	}
	return list
}
