package check_test

import (
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/collgen/collgen/cmd/collvet/internal/check"
)

// module is the folder of go.mod, from here.
const module = "../../../.."

// TestChecks: each check finds what the comments "want" of its folder say, and nothing else.
func TestChecks(t *testing.T) {
	folders := map[string]string{"rankbranch": "branch", "maprange": "maprange", "dropped": "dropped",
		"touched": "touched", "rankroot": "root"}
	for _, a := range check.Analyzers {
		t.Run(a.Name, func(t *testing.T) {
			found := 0
			for _, result := range analysistest.Run(t, module, a, "./cmd/collvet/internal/check/testdata/"+folders[a.Name]) {
				found += len(result.Diagnostics)
			}
			if found == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// TestNoFalseAlarm: the examples and the library itself are right.
func TestNoFalseAlarm(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: module}, "./examples/...",
		"./fast/scalar", "./fast/object", "./fast/neighbor", "./fast/message")
	if err != nil || packages.PrintErrors(pkgs) > 0 {
		t.Fatal("the packages do not load: ", err)
	}
	graph, err := checker.Analyze(check.Analyzers, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(slices.Collect(graph.All())); n < len(check.Analyzers)*len(pkgs) {
		t.Errorf("%d runs of checks over %d packages", n, len(pkgs))
	}
	for act := range graph.All() {
		for _, d := range act.Diagnostics {
			t.Errorf("%v: %s", act.Package.Fset.Position(d.Pos), d.Message)
		}
	}
}
