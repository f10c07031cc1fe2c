// Command collvet finds mistakes in programs that call package fast, as go vet does.
//
//	collvet ./...
//	go vet -vettool=$(which collvet) ./...
//
// Each of its checks is about what ranks have to do alike, or about the buffers of started calls. A check is turned
// off by a flag: -rankbranch=false.
package main

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/collgen/collgen/cmd/collvet/internal/check"
)

func main() {
	if slices.ContainsFunc(os.Args[1:], isForVet) {
		unitchecker.Main(check.Analyzers...)
	}
	multichecker.Main(check.Analyzers...)
}

// isForVet reports whether an argument is one by which go vet calls its tool.
func isForVet(arg string) bool {
	return strings.HasSuffix(arg, ".cfg") || strings.HasPrefix(arg, "-V=") || arg == "-flags"
}
