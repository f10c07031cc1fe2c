package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/spec"
	"golang.org/x/tools/go/packages"
)

// This file reads a user's package: what it declares, and where. The values are evaluated in driver.go.

// load finds and evaluates the algorithms that the package in dir declares. Generated files do not count, and calls of
// functions that are not generated yet are no error.
func load(ctx context.Context, dir string) (*source, error) {
	pkg, err := parse(ctx, dir)
	if err != nil {
		return nil, err
	}
	found := findVariables(pkg)
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: package %s declares no variable of type gen.Algorithm or spec.Primitive", dir, pkg.Name)
	}
	values, err := evaluate(ctx, dir, pkg, found)
	if err != nil {
		return nil, err
	}
	s := &source{dir: dir, taken: map[string]token.Position{}, Package: golang.Package{Path: pkg.PkgPath, Name: pkg.Name,
		Command: "go tool collgen gen"}}
	s.Taken = func(name string) bool { _, ok := s.taken[name]; return ok }
	for _, name := range pkg.Types.Scope().Names() {
		s.taken[name] = relative(pkg.Fset.Position(pkg.Types.Scope().Lookup(name).Pos()))
	}
	return s, s.take(found, values)
}

// take adds what the variables hold.
func (s *source) take(found []variable, values *gen.Declarations) error {
	for _, v := range found {
		if a, ok := values.Algorithms[v.name]; ok {
			for _, m := range a.Members() {
				s.add(m, v.at)
			}
		}
	}
	return errors.Join(s.clashes(found, values)...)
}

// clashes are primitives of one name that differ, algorithms of one name, and primitives without an algorithm or a
// meaning.
func (s *source) clashes(found []variable, values *gen.Declarations) []error {
	var faults []error
	seen := map[string]bool{}
	for _, a := range s.algorithms {
		if seen[a.FullName()] {
			faults = append(faults, a.locate(fmt.Errorf("there are two algorithms %s", a.FullName())))
		}
		seen[a.FullName()] = true
		for _, p := range s.primitives {
			if p.Name == a.Primitive.Name && p.Hash() != a.Primitive.Hash() {
				faults = append(faults, a.locate(fmt.Errorf("%s: there are two primitives %s", a.FullName(), p.Name)))
			}
		}
	}
	for _, v := range found {
		p, ok := values.Primitives[v.name]
		if !ok {
			continue
		}
		if !slices.ContainsFunc(s.algorithms, func(a *algorithm) bool { return a.Primitive.Name == p.Name }) {
			faults = append(faults, at(v.at.variable, fmt.Errorf("%s: no algorithm of this package carries out %s", v.name,
				p.Name)))
		} else if err := spec.Validate(p); err != nil {
			faults = append(faults, at(v.at.variable, err))
		}
	}
	return faults
}

// parse reads and type-checks the package in dir. Type errors are no errors.
func parse(ctx context.Context, dir string) (*packages.Package, error) {
	hidden, err := hideGenerated(dir)
	if err != nil {
		return nil, err
	}
	found, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, Env: buildEnv(), Overlay: hidden,
		Mode: packages.LoadSyntax | packages.NeedModule,
	}, ".")
	if err != nil {
		return nil, loadError(dir, err)
	}
	var faults []error
	for _, e := range found[0].Errors {
		if e.Kind != packages.TypeError && !isCompiler(e) {
			faults = append(faults, e)
		}
	}
	return found[0], errors.Join(faults...)
}

// isCompiler reports whether e is what the compiler had to say, under a line with the package's name. That counts where
// the package is evaluated.
func isCompiler(e packages.Error) bool { return e.Pos == "" && strings.HasPrefix(e.Msg, "# ") }

// loadNoise is what package packages puts before the words of the go command.
var loadNoise = regexp.MustCompile(`^err: exit status \d+: stderr: `)

// loadError returns the error of packages.Load for the package in dir as the go command says it, and what to do.
func loadError(dir string, err error) error {
	text := strings.TrimSpace(loadNoise.ReplaceAllString(err.Error(), ""))
	if strings.Contains(text, "updates to go.mod needed") && !strings.Contains(text, "go mod tidy") {
		text += "; to update it:\n\tgo mod tidy"
	}
	return fmt.Errorf("%s: %s", relativeName(dir), text)
}

// open finds the algorithms of the package in dir.
func open(ctx context.Context, dir string) (*source, error) {
	found, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.NeedName, Dir: dir}, ".")
	if err != nil {
		return nil, loadError(dir, err)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs) // so does the go command
	}
	if err != nil {
		return nil, err
	}
	switch p := found[0]; {
	case p.PkgPath == golang.Runtime:
		return builtIn(abs), nil
	case p.Name == "":
		return nil, fmt.Errorf("%s: there is no Go package: %v", dir, p.Errors)
	}
	return load(ctx, abs)
}
