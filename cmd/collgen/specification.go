package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/mutants"
	"github.com/collgen/collgen/verify"
)

// errUnguarded says that verify -spec found something.
var errUnguarded = errors.New("specifications could be changed, and no example would tell")

// guard is what the examples of a primitive guard.
type guard struct {
	Primitive string      `json:"primitive"`
	Examples  int         `json:"examples"`
	Refused   int         `json:"refused"`   // changes of the specification that an example refuses
	Unnoticed []unnoticed `json:"unnoticed"` // those that none does
}

// unnoticed is a change of a specification to another one, which fits the examples as well.
type unnoticed struct {
	Part   string `json:"part"`
	Change string `json:"change"`
	Proved bool   `json:"proved"` // all algorithms of the package carry it out too
}

// runSpec runs collgen verify -spec.
func (c *verifyCommand) runSpec(ctx context.Context, s *source) error {
	if c.isSet("n") || c.isSet("svg") {
		return usageError{fmt.Errorf("-spec goes with neither -n nor -svg")}
	}
	found, err := s.match(c.arg(""))
	if err != nil {
		return err
	}
	j := &job{source: s, progress: c.progress}
	j.algorithms = found
	if err := validate(ctx, j); err != nil {
		return err
	}
	guards := []guard{}
	for _, p := range s.primitives {
		if algorithms := s.declared(p); len(algorithms) > 0 && !isCatalogues(p) {
			g, err := c.guardOf(ctx, p, algorithms)
			if err != nil {
				return err
			}
			guards = append(guards, g)
		}
	}
	if len(guards) == 0 {
		return fmt.Errorf("these specifications are the catalogue's: its examples are in package spec/spectest, and the " +
			"tests of spec change them")
	}
	return c.writeGuards(s, guards)
}

// isCatalogues reports whether p is a primitive of the catalogue, whichever package has an algorithm for it.
func isCatalogues(p spec.Primitive) bool {
	return slices.ContainsFunc(spec.Primitives(), func(q spec.Primitive) bool { return q.Hash() == p.Hash() })
}

// guardOf changes p in every way that package mutants knows.
func (c *verifyCommand) guardOf(ctx context.Context, p spec.Primitive, algorithms []gen.Algorithm) (guard, error) {
	g := guard{Primitive: p.Name, Examples: len(p.Examples), Unnoticed: []unnoticed{}}
	all, refused := mutants.Unnoticed(p)
	g.Refused = refused
	for i, m := range all {
		c.progress.Update("%s: proving changed specifications, %d of %d", p.Name, i, len(all))
		proved, err := carriesOut(ctx, m.Primitive, algorithms)
		if err != nil {
			return g, err
		}
		g.Unnoticed = append(g.Unnoticed, unnoticed{m.Part, m.Change, proved})
	}
	return g, nil
}

// carriesOut reports whether all algorithms do what p promises to few ranks, which are those on which mutants are
// compared. Its error is the end of ctx.
func carriesOut(ctx context.Context, p spec.Primitive, algorithms []gen.Algorithm) (bool, error) {
	for _, a := range algorithms {
		a.Primitive = p
		if gen.Validate(&a) != nil {
			return false, nil
		}
		_, err := verify.Algorithm(ctx, &a, verify.Options{To: mutants.MaxSize})
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err != nil {
			return false, nil
		}
	}
	return true, nil
}

// writeGuards writes what was found. Its error is errUnguarded if that is anything.
func (c *verifyCommand) writeGuards(s *source, guards []guard) error {
	var err error
	for _, g := range guards {
		if len(g.Unnoticed) > 0 {
			err = errUnguarded
		}
	}
	if c.json {
		return errors.Join(err, writeJSON(c.stdout, guards))
	}
	fmt.Fprintf(c.stdout, "%s.\n", s.title())
	for _, g := range guards {
		fmt.Fprintf(c.stdout, "\n%s has %d %s. Of %d changes of it to something else, they refuse %d.\n", g.Primitive,
			g.Examples,
			plural(g.Examples, "example"), g.Refused+len(g.Unnoticed), g.Refused)
		c.writeUnnoticed("No example distinguishes these from it, and all algorithms carry them out as well:", g.Unnoticed,
			true)
		c.writeUnnoticed("No example distinguishes these from it:", g.Unnoticed, false)
	}
	return err
}

// writeUnnoticed writes those changes that are proved, or those that are not: of each part of the specification the
// first one, and how many others there are.
func (c *verifyCommand) writeUnnoticed(title string, all []unnoticed, proved bool) {
	var first []unnoticed
	more := map[string]int{}
	for _, u := range all {
		if u.Proved != proved {
			continue
		}
		if more[u.Part]++; more[u.Part] == 1 {
			first = append(first, u)
		}
	}
	if first == nil {
		return
	}
	fmt.Fprintf(c.stdout, "%s\n", title)
	for _, u := range first {
		fmt.Fprintf(c.stdout, "  %s: %s", u.Part, u.Change)
		if n := more[u.Part] - 1; n > 0 {
			fmt.Fprintf(c.stdout, ", and %d other %s", n, plural(n, "change"))
		}
		fmt.Fprintln(c.stdout)
	}
}
