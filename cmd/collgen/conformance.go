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
	Name       string                     `json:"name"`
	Ranks      []int                      `json:"ranks"`
	Seed       uint64                     `json:"seed"`
	Tested     map[string]colltest.Counts `json:"tested"`
	NotTested  []string                   `json:"notTested"`
	Failures   []failedCase               `json:"failures"`
	primitives []string                   // in the order in which they were tested
}

// cases returns how many cases were tried.
func (r *conformance) cases() (n int) {
	for _, of := range r.Tested {
		n += of.Cases
	}
	return n
}

// failedCase is what failed, and the command that repeats it.
type failedCase struct {
	Primitive string            `json:"primitive"`
	Failure   *colltest.Failure `json:"failure"`
	Repeat    string            `json:"repeat"`
}

// add adds a failure, if there is one.
func (r *conformance) add(c *conformCommand, primitive string, f *colltest.Failure) {
	if f != nil {
		words := []string{"collgen", "conform", "-ranks", strconv.Itoa(f.Case.Size), "-case", quoted(f.Case.JSON()), "--"}
		for _, word := range c.command {
			words = append(words, quoted(word))
		}
		r.Failures = append(r.Failures, failedCase{primitive, f, strings.Join(words, " ")})
	}
}

// quoted is word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`!*?[]{}()<>|&;~#") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (c *conformCommand) writeConformance(r *conformance) error {
	if c.json {
		return writeJSON(c.stdout, r)
	}
	fmt.Fprintf(c.stdout, "%s, on %v ranks, seed %d\n\n", r.Name, (*rankList)(&r.Ranks), r.Seed)
	t := newTable(c.stdout)
	t.row("primitive", "cases", "calls", "reduced elements", "")
	for _, name := range r.primitives {
		n := r.Tested[name]
		verdict := "conforms"
		switch {
		case slices.ContainsFunc(r.Failures, func(f failedCase) bool { return f.Primitive == name }):
			verdict = "FAILS"
		case n.Cases == 0:
			verdict = "not tested"
		}
		t.row(name, n.Cases, n.Calls, n.Elements, verdict)
	}
	t.flush()
	fmt.Fprintln(c.stdout)
	for _, missing := range r.NotTested {
		fmt.Fprintf(c.stdout, "not tested: %s\n", missing)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(c.stdout, "\n%s fails %v\n  again: %s\n", f.Primitive, f.Failure, f.Repeat)
	}
	return nil
}
