package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/bugs"
)

// bugsInAlgorithms tries the bugs of other libraries that are planted in algorithms. Other stages are asked about the
// bugs in algorithms of the catalogue.
func (r *report) bugsInAlgorithms(ctx context.Context, o options) error {
	x, end := r.add("bugs of other libraries, in algorithms", 1)
	defer end()
	x.sizes = fmt.Sprintf("1..%d", bugs.MaxSize)
	var made []candidate
	for _, b := range bugs.Known {
		if b.IsSource() {
			continue
		}
		f, err := b.Verify(ctx, bugs.Options)
		if err != nil {
			return err
		}
		x.fates, made = append(x.fates, fateInAlgorithm(&b, f)), append(made, candidate{of: &b.In, is: b.Planted()})
	}
	known := map[string]bool{}
	for _, a := range catalogue.Algorithms() {
		known[a.FullName()] = true
	}
	killed := slices.DeleteFunc(x.killedOf(made), func(c candidate) bool { return !known[c.of.FullName()] })
	return ask(ctx, o, killed, asking{len(killed), len(killed)})
}

// fateInAlgorithm returns the fate of a bug for which package verify reports f. Only the expected check kills it.
func fateInAlgorithm(b *bugs.Bug, f *verify.Failure) fate {
	switch {
	case f == nil:
		return fate{Mutant: b.Name()}
	case !b.IsFoundBy(f):
		return fate{Mutant: b.Name(), Words: fmt.Sprintf("not %s: %s", b.Check, ofError(f))}
	}
	return fate{Mutant: b.Name(), Stage: scheduleStage, Check: string(f.Check), Words: ofError(f)}
}

// bugsInSources tries the bugs of other libraries that are planted in source code.
func (r *report) bugsInSources(ctx context.Context, root string) error {
	x, end := r.add("bugs of other libraries, in source code", 1)
	defer end()
	for _, b := range bugs.Known {
		if !b.IsSource() {
			continue
		}
		v, err := tryBug(ctx, root, &b.Source)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Reference, err)
		}
		if v.absent {
			return fmt.Errorf("%s: it does not compile: %s", b.Reference, v.output)
		}
		x.fates = append(x.fates, fateInSource(&b, v))
	}
	return nil
}

// fateInSource returns the fate of a bug for which the tests report v. Only a failure with the expected text kills it.
func fateInSource(b *bugs.Bug, v verdict) fate {
	switch said := words(v.output); {
	case v.killer == "":
		return fate{Mutant: b.Name()}
	case !strings.Contains(said, b.Says):
		return fate{Mutant: b.Name(), Words: fmt.Sprintf("not %q: %s", b.Says, said)}
	default:
		return fate{Mutant: b.Name(), Stage: testStage, Check: b.Source.Test(), Words: said}
	}
}
