// Crossvet checks that packages compile on another platform, that of GOOS and GOARCH, and what of go vet depends on the
// platform. It takes all imports from source and compiles nothing, unlike go vet.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/framepointer"
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
	graph, err := checker.Analyze([]*analysis.Analyzer{asmdecl.Analyzer, buildtag.Analyzer, framepointer.Analyzer,
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
