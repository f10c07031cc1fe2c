package bugs

import (
	"fmt"
	"strings"
)

// PageFile is the file that Page is written to, from the root of the module.
const PageFile = "docs/lab/bugs.md"

// Page returns Known as a page in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString("# Bugs of other libraries\n\n" +
		"Each of these bugs is planted in an algorithm or a source file of ours. The last column says what finds it: " +
		"a check of\npackage `verify`, or a test. `go run ./verify/mutate -only bugs -list` prints the counterexamples and " +
		"failures.\n\nThe list is `verify/bugs/known.go`. `go run ./verify/mutate -write` writes this page, and a test " +
		"compares the two. What\nwent wrong is described as far as the reference shows it.\n")
	for _, library := range libraries() {
		fmt.Fprintf(&b, "\n## %s\n\n| where | what went wrong | planted in | found by |\n|---|---|---|---|\n", library)
		for _, x := range Known {
			if x.Library == library {
				fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s |\n", x.shortReference(), x.Reference, x.description(), x.Place(),
					x.finder())
			}
		}
	}
	return b.String()
}

// description returns what went wrong, and what is planted if that differs.
func (b *Bug) description() string {
	if b.Here == "" {
		return b.What
	}
	return b.What + " Here: " + b.Here
}

// finder returns the check or the test that finds the bug.
func (b *Bug) finder() string {
	if b.IsSource() {
		return b.Source.Test()
	}
	return "`verify`: " + string(b.Check)
}
