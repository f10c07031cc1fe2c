package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// This file compares what fails with what is known to fail.

// entry returns the entry that stands for a failure, in an environment, and for nothing else.
func (x *failedCase) entry(e environment) knownFailure {
	step := x.Failure.At()
	k := knownFailure{Environment: e.values(), Primitive: step.Primitive, Form: form(step),
		Kind: x.Failure.Problems[0].Kind, Values: kindsOfValues[step.Values.Kind], Ranks: x.Failure.Case.Size}
	if step.TypeOp() != "" {
		k.With = x.with()
		slices.SortFunc(k.With, compareTypeOps)
	}
	for _, s := range x.Failure.Case.Steps {
		if len(x.Failure.Case.Steps) > 1 || s.Repeat > 1 {
			k.Calls = append(k.Calls, s.Primitive)
		}
		if s.Repeat > 1 {
			k.Calls = append(k.Calls, s.Primitive)
		}
	}
	if x.Primitive == colltest.Mixed || x.Primitive == colltest.Soak {
		k.Part = x.Primitive
	}
	k.Calls = callsOf(k.Calls)
	return k
}

// callsOf returns each primitive once; one that is the only one, and is called several times, twice.
func callsOf(primitives []string) []string {
	if len(primitives) == 0 {
		return nil
	}
	once := slices.Compact(slices.Sorted(slices.Values(primitives)))
	if len(once) == 1 {
		return append(once, once[0])
	}
	return once
}

// standsFor reports whether k is the failure that is, whose text is given, but for its types and ops.
func (k knownFailure) standsFor(is knownFailure, text string) bool {
	isSame := is
	isSame.Part, isSame.Says, isSame.Ranks = k.Part, k.Says, k.Ranks
	return k.same(isSame) && is.Ranks >= k.Ranks && strings.Contains(text, k.Says)
}

// judge notes what of a failure is known.
func (x *failedCase) judge(e environment, known []knownFailure) {
	is, text := x.entry(e), x.Failure.String()
	missing := slices.Clone(is.With)
	var notes []string
	isKnown := false
	for _, k := range known {
		if !k.standsFor(is, text) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(missing), k.covers)
		if len(rest) < len(missing) || len(is.With) == 0 {
			isKnown = true
			notes = append(notes, k.Note)
		}
		missing = rest
	}
	if !isKnown {
		return
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	x.Known, x.Note = len(missing) == 0, strings.Join(slices.Compact(notes), "; ")
	if !x.Known {
		x.New = missing
	}
}

// covers reports whether k names a type and op.
func (k knownFailure) covers(typeOp string) bool {
	return slices.Contains(k.With, typeOp) || slices.Contains(k.With, anyTypeOp)
}

// gone returns those of the known failures that were tested in r, and do not fail any more, each with the types and ops
// of which that is so.
func (c *conformCommand) gone(r *conformance) (gone []knownFailure) {
	for _, k := range c.known {
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
