package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/c"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/gen/emit/python"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/internal/program"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// passes are what algorithms go through on their way to Go, in this order. They begin with verification, and what the
// passes have changed is verified again.
var passes = []func(context.Context, *job) error{
	validate,
	prove,
	compareCosts,
	checkRules,
	simplify,
	prune,
	prove,
	quoteProofs,
	emitGo,
	readBack,
	emitOthers,
}

// generate returns the files of a package. It fails if anything in it is not proved.
func generate(ctx context.Context, s *source, o verify.Options, p *program.Progress) (*job, error) {
	j := &job{source: s, options: o, progress: p, files: map[string][]byte{}}
	for _, pass := range passes {
		if err := pass(ctx, j); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// validate checks what can be said without numbers.
func validate(ctx context.Context, j *job) error {
	return j.each(ctx, func(a *algorithm) error {
		if err := spec.Validate(a.Primitive); err != nil {
			return fmt.Errorf("%s: %w", a.FullName(), err)
		}
		if err := gen.Validate(&a.Algorithm); err != nil {
			return errors.Join(err, j.isFree(a))
		}
		return errors.Join(printable(a), j.isFree(a))
	})
}

// printable checks that there can be Go of a: what is not printed would be proved for nothing.
func printable(a *algorithm) error {
	form := gen.Prune(gen.Simplify(a.Algorithm))
	err := golang.Validate(&form)
	var fault *golang.Error
	if errors.As(err, &fault) && form.Text() != a.Text() {
		fault.Node = -1 // the index of an action is not that of the same one in a
	}
	return err
}

// isFree checks that the package does not declare names that generated code needs.
func (j *job) isFree(a *algorithm) error {
	var faults []error
	for _, name := range golang.ReservedNames(a.Primitive) {
		if where, ok := j.taken[name]; ok {
			faults = append(faults, fmt.Errorf("%s: generated code needs the name %s, which is declared at %s", a.FullName(),
				name, where))
		}
	}
	return errors.Join(faults...)
}

// prove proves what is not proved as it is now.
func prove(ctx context.Context, j *job) error {
	return j.each(ctx, func(a *algorithm) error {
		if a.proved {
			return nil
		}
		o := j.options
		o.Progress = func(done, total int) { j.progress.Update("proving %s: %d of %d schedules", a.FullName(), done, total) }
		start := time.Now()
		proof, err := verify.Algorithm(ctx, &a.Algorithm, o)
		if j.someOnly && errors.Is(err, verify.ErrNothing) {
			return nil
		}
		if err != nil {
			return err
		}
		a.proof, a.proved, a.took = proof, true, time.Since(start)
		j.progress.Stage("%s: proved for sizes %s%s", a.FullName(), text.Ranges(proof.Sizes), a.form)
		return nil
	})
}

// checkRules proves that the selection tables are legal and total, those of the catalogue and those with the rules of a
// file. Packages of others have none without: a call gets their first algorithm that serves it.
func checkRules(_ context.Context, j *job) error {
	if !j.isBuiltIn && j.tuning == nil {
		return nil
	}
	var faults []error
	for _, p := range j.primitives {
		if err := gen.CheckRules(j.rules(p), j.declared(p), spec.Ops()); err != nil {
			faults = append(faults, fmt.Errorf("the selection table of %s: %w", p.Name, err))
		}
	}
	return errors.Join(faults...)
}

// simplify leaves out what is decided already.
func simplify(_ context.Context, j *job) error { return j.rewrite(gen.Simplify) }

// prune leaves out what nothing needs.
func prune(_ context.Context, j *job) error { return j.rewrite(gen.Prune) }

// rewrite replaces every algorithm by another form of it. What is said of actions by their index is not said of the
// new ones, so that these are not located any more.
func (j *job) rewrite(f func(gen.Algorithm) gen.Algorithm) error {
	for _, a := range j.algorithms {
		old := a.Text()
		a.Algorithm = f(a.Algorithm)
		if a.Text() != old {
			a.proved, a.form, a.at.actions = false, ", as rewritten", nil
		}
	}
	return nil
}

// emitGo prints the Go of every primitive.
func emitGo(ctx context.Context, j *job) error {
	for _, p := range j.primitives {
		c := golang.Collective{Primitive: p, Rules: j.rules(p)}
		for _, a := range j.of(p) {
			c.Algorithms = append(c.Algorithms, golang.Proved{Algorithm: a.Algorithm, Proof: proofOf(a), Hash: a.hash})
		}
		content, err := golang.File(j.Package, c)
		if err != nil {
			return j.blame(ctx, p, err)
		}
		j.files[golang.FileName(p)] = content
	}
	if j.isBuiltIn {
		content, err := golang.List(j.Package, j.primitives)
		if err != nil {
			return err
		}
		j.files[golang.ListFile] = content
	}
	return ctx.Err()
}

// emitOthers prints what other languages need to call the catalogue's primitives.
func emitOthers(_ context.Context, j *job) error {
	if !j.isBuiltIn {
		return nil
	}
	inC, errC := c.Files(j.primitives)
	inPython, errPython := python.Files(j.primitives)
	for folder, files := range map[string]map[string][]byte{folderOfC: inC, folderOfPython: inPython} {
		for name, content := range files {
			j.files[filepath.Join(folder, name)] = content
		}
	}
	return errors.Join(errC, errPython)
}

func proofOf(a *algorithm) golang.Proof {
	s := a.proof
	p := golang.Proof{Sizes: s.Sizes, Depths: s.Depths, Deeper: s.Deeper, Few: verify.ManyDepths, Local: a.HasLocal(),
		Schedules: s.Schedules, InPlace: s.InPlace, Folds: s.Folds, Order: s.Order,
		Segment: s.Capacity > 0, Every: golang.Induction{Sizes: a.every.Sizes, Obligations: a.every.Obligations,
			Solvers: a.every.Solvers}}
	if n := len(s.Sizes); n > 0 {
		p.All = verify.TriesAll(&a.Algorithm, s.Sizes[n-1])
	}
	isPair := slices.Contains(a.Primitive.Params, spec.ParamPeer)
	if n := len(s.Sizes); isPair && n > 0 && s.Sizes[n-1] > verify.AllPairs {
		p.Sampled = verify.AllPairs + 1
	}
	return p
}
