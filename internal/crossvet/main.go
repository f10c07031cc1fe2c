// Crossvet checks the types of packages on another platform, that of GOOS and GOARCH, and makes some of the checks of
// go vet, for files that are of that platform alone. It takes all imports from source, unlike go vet, and compiles only
// packages with assembly.
package main

import (
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/packages"
)

func main() {
	if err := vet(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crossvet:", err)
		os.Exit(1)
	}
}

// vet checks the packages that match patterns, and their tests, and prints what is wrong.
func vet(patterns []string) error {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true}, patterns...)
	switch {
	case err != nil:
		return err
	case len(pkgs) == 0:
		return fmt.Errorf("no packages match %q", patterns)
	case packages.PrintErrors(pkgs) > 0:
		return fmt.Errorf("some packages do not compile")
	}
	if err := compile(pkgs); err != nil {
		return err
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{asmdecl.Analyzer, copylock.Analyzer, printf.Analyzer,
		shift.Analyzer, unsafeptr.Analyzer}, pkgs, nil)
	if err != nil {
		return err
	}
	found := 0
	for _, action := range graph.Roots {
		if action.Err != nil {
			return action.Err
		}
		for _, d := range action.Diagnostics {
			found++
			fmt.Fprintf(os.Stderr, "%v: %s\n", action.Package.Fset.Position(d.Pos), d.Message)
		}
	}
	if found > 0 {
		return fmt.Errorf("found %d mistakes", found)
	}
	return nil
}

// compile compiles those of pkgs that have assembly, or functions without a body.
func compile(pkgs []*packages.Package) error {
	build := exec.Command("go", "build", "-gcflags=all=-N -l -dwarf=false")
	for _, p := range pkgs {
		isAssembly := func(file string) bool { return filepath.Ext(file) == ".s" }
		if p.ID == p.PkgPath && (slices.ContainsFunc(p.OtherFiles, isAssembly) || hasBodyless(p)) {
			build.Args = append(build.Args, p.PkgPath)
		}
	}
	if len(build.Args) == 3 {
		return nil
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", build, err, out)
	}
	return nil
}

// hasBodyless reports whether p declares a function without a body.
func hasBodyless(p *packages.Package) bool {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
				return true
			}
		}
	}
	return false
}
