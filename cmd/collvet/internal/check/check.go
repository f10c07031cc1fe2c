// Package check has the checks of collvet, each as an analyzer of golang.org/x/tools/go/analysis.
package check

import (
	"golang.org/x/tools/go/analysis"
)

// Analyzers are all checks.
var Analyzers = []*analysis.Analyzer{RankBranch, MapRange, Dropped, Touched, RankRoot}

// url has the text that explains all checks.
const url = "https://pkg.go.dev/github.com/collgen/collgen/cmd/collvet"
