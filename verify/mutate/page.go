package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/bugs"
)

// mutantsFile is the file of the page about mutants.
const mutantsFile = "docs/lab/mutants.md"

// write writes the pages.
func (r *report) write(root string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(root, bugs.PageFile), []byte(bugs.Page()), 0o666),
		os.WriteFile(filepath.Join(root, mutantsFile), []byte(r.page()), 0o666),
	)
}

// page returns the report as a page.
func (r *report) page() string {
	var b strings.Builder
	b.WriteString("# Mutants\n\n" +
		"How many mistakes are found, of those that `verify/mutate` makes. This page was made by\n\n" +
		"    " + r.command + "\n\n" +
		"Without `-long`, mutants of schedules and algorithms are a sample. A mutant that means the same is no mistake. That is proved by a\n" +
		"normal form of schedules that shares no code with package verify (`verify/mutate/meaning.go`): of a mutated schedule for that one\n" +
		"schedule, of a mutated algorithm for the numbers of ranks that the table says, and no larger ones. Of source code it is argued by\n" +
		"hand, below.\n\n" +
		"Mutants of source code are a sample, drawn by a seed, of which those that do not compile are left out; what a journal has is not\n" +
		"tried again. Tests were written for some that had survived, and those tried again: of a new sample fewer may be killed. These\n" +
		"packages have them, without what is in folders below them, and no other package: " + subjectNames() + ".\n" +
		"Tests that compare digests with the record of what was proved are left out: they would notice any change. Tests that have limits of\n" +
		"time, those of fast and the packages below it, have to fail twice.\n\n" +
		"| mutants of | made | mean the same | killed | of the others | survive |\n|---|---|---|---|---|---|\n")
	for _, x := range r.rows {
		fmt.Fprintf(&b, "| %s | %s |\n", x.title(), strings.Join(x.cells(), " | "))
	}
	b.WriteString("\n## What killed them\n\n")
	for _, x := range r.rows {
		if !x.elsewhere {
			fmt.Fprintf(&b, "- %s: %s\n", x.kind, x.killerText())
		}
	}
	b.WriteString("\n## Survivors\n\n| mutant | why |\n|---|---|\n")
	for _, x := range r.rows {
		for _, f := range x.fates {
			if f.survives() {
				fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(f.Mutant, "|", `\|`), reasonOf(f.Mutant))
			}
		}
	}
	b.WriteString("\n## Of source code, argued to be the same\n\n| mutant | why |\n|---|---|\n")
	for _, x := range r.rows {
		for _, f := range x.fates {
			if f.Same && isSame(f.Mutant) {
				fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(f.Mutant, "|", `\|`), reasons[f.Mutant])
			}
		}
	}
	return b.String()
}

// subjectNames returns the packages whose source code is mutated, in words.
func subjectNames() string {
	var all []string
	for _, s := range subjects {
		all = append(all, s.pkg)
	}
	return strings.Join(all, ", ")
}

// title returns what the row's mutants are of, and which these are.
func (r *row) title() string {
	notes := []string{r.note}
	if r.sizes != "" {
		notes = []string{r.sizes + " ranks", r.note}
	}
	if note := strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), ", "); note != "" {
		return r.kind + " (" + note + ")"
	}
	return r.kind
}

func reasonOf(survivor string) string {
	if why, ok := missing[survivor]; ok {
		return why
	}
	return "not looked into"
}
