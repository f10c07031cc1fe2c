package main

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/collgen/collgen/gen/emit/golang"
)

// This file says whose algorithms list, explain and verify show.

// shown returns the algorithms that the command line means: with -catalogue those of the catalogue, with -package those
// of another package. With neither they are those that gen would work on here, or the catalogue's where there are none.
func (c *call) shown(ctx context.Context) (*source, error) {
	switch {
	case c.catalogue && c.dir != "":
		return nil, usageError{fmt.Errorf("-catalogue and -package exclude each other")}
	case c.catalogue:
		return builtIn(""), nil
	case c.dir != "":
		return open(ctx, c.dir)
	}
	declares, err := declaresHere(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s -catalogue shows the built-in algorithms", err, c.flags.Name())
	}
	if !declares {
		return builtIn(""), nil
	}
	return open(ctx, ".")
}

// declaresHere reports whether the package in the current folder declares algorithms. The packages of this module that
// make up the catalogue do so only on its behalf.
func declaresHere(ctx context.Context) (bool, error) {
	files, err := filepath.Glob("*.go")
	if err != nil || files == nil {
		return false, err
	}
	found, err := packages.Load(&packages.Config{Context: ctx, Env: buildEnv(),
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps}, ".")
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		return false, loadError(".", err)
	}
	switch p := found[0]; {
	case p.PkgPath == golang.Runtime, p.PkgPath == ownPath, p.PkgPath == genPath, p.PkgPath == specPath,
		!dependsOnGen(p, map[*packages.Package]bool{}):
		return false, nil
	}
	dir, err := filepath.EvalSymlinks(".")
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	pkg, err := parse(ctx, dir)
	return err == nil && len(findVariables(pkg)) > 0, err
}

// dependsOnGen reports whether p can have algorithms or primitives at all.
func dependsOnGen(p *packages.Package, seen map[*packages.Package]bool) bool {
	if seen[p] {
		return false
	}
	seen[p] = true
	for path, imported := range p.Imports {
		if path == genPath || path == specPath || dependsOnGen(imported, seen) {
			return true
		}
	}
	return false
}

// title says whose algorithms these are.
func (s *source) title() string {
	if s.isBuiltIn {
		return "The built-in catalogue"
	}
	return "Package " + s.Path
}
