package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// conformance is the result of collgen conform.
type conformance struct {
	Name      string                     `json:"name"`
	Ranks     []int                      `json:"ranks"`
	Seed      uint64                     `json:"seed"`
	Tested    map[string]colltest.Counts `json:"tested"`
	NotTested []string                   `json:"notTested"`
	Failures  []failedCase               `json:"failures"`
	parts     []string                   // what was tested, in this order
}

// calls returns how many calls were made.
func (r *conformance) calls() (n int) {
	for _, of := range r.Tested {
		n += of.Made()
	}
	return n
}

// failedCase is what failed, and the command that repeats it.
type failedCase struct {
	Primitive string            `json:"primitive"`
	Failure   *colltest.Failure `json:"failure"`
	Repeat    string            `json:"repeat"` // empty: nothing does
}

// add adds a failure.
func (r *conformance) add(c *conformCommand, name string, f *colltest.Failure) {
	words := []string{"collgen", "conform", "-ranks", strconv.Itoa(f.Case.Size)}
	switch {
	case f.Failed == 0 && f.After > 0:
		words = append(words, c.sameRun(r)...)
	case f.Failed == 0 && f.Tries > 0:
		words = nil
	default:
		words = append(words, "-case", quoted(f.Case.JSON()))
	}
	if words != nil {
		words = append(words, "--")
		for _, word := range c.command {
			words = append(words, quoted(word))
		}
	}
	r.Failures = append(r.Failures, failedCase{name, f, strings.Join(words, " ")})
}

// sameRun returns the flags of a run that makes the calls of this one on one number of ranks: those of a world do not
// depend on the others.
func (c *conformCommand) sameRun(r *conformance) (words []string) {
	words = append(words, "-seed", strconv.FormatUint(c.seed, 10), "-checks", strconv.Itoa(c.checks))
	if c.without != "" {
		words = append(words, "-without", quoted(c.without))
	}
	if c.primitives != "" {
		words = append(words, "-primitives", quoted(c.primitives))
	}
	if c.large {
		words = append(words, "-large")
	}
	if c.soak && slices.Contains(r.parts, colltest.Soak) {
		words = append(words, "-soak")
	}
	return words
}

// quoted is word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`!*?[]{}()<>|&;~#") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// begin writes the head of the table.
func (c *conformCommand) begin(r *conformance) {
	if !c.json {
		fmt.Fprintf(c.stdout, "%s, on %v ranks, seed %d\n\n", r.Name, (*rankList)(&r.Ranks), r.Seed)
		fmt.Fprintf(c.stdout, conformRow, "primitive", "cases", "calls", "reduced elements", "")
	}
}

// conformRow is a row of the table, which is written as it comes.
const conformRow = "%-15s %7v %8v %17v  %s\n"

// writePart writes a row of the table, and the failures of this part.
func (c *conformCommand) writePart(r *conformance, name string) {
	if c.json {
		return
	}
	n := r.Tested[name]
	verdict := "conforms"
	failures := slices.DeleteFunc(slices.Clone(r.Failures), func(f failedCase) bool { return f.Primitive != name })
	switch {
	case len(failures) > 0:
		verdict = "FAILS"
	case n.Made() == 0:
		verdict = "not tested"
	}
	fmt.Fprintf(c.stdout, conformRow, name, n.Cases, n.Calls, n.Elements, verdict)
	for _, f := range failures {
		fmt.Fprintf(c.stdout, "\n%s fails %v\n", f.Primitive, f.Failure)
		if f.Repeat != "" {
			fmt.Fprintf(c.stdout, "  again: %s\n", f.Repeat)
		}
		fmt.Fprintln(c.stdout)
	}
}

// writeConformance writes all that writePart has not.
func (c *conformCommand) writeConformance(r *conformance) error {
	if c.json {
		return writeJSON(c.stdout, r)
	}
	fmt.Fprintln(c.stdout)
	for _, missing := range r.NotTested {
		fmt.Fprintf(c.stdout, "not tested: %s\n", missing)
	}
	return nil
}
