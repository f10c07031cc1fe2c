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

// write writes both pages below root.
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
		"How many of the mistakes that `verify/mutate` plants are found. This page was made by\n\n" +
		"    " + r.command + "\n\n" +
		"Without `-long`, mutants of schedules and algorithms are a sample. A mutant with the same meaning is no mistake. " +
		"A normal form of\nschedules, which shares no code with package verify (`verify/mutate/meaning.go`), proves that " +
		"two meanings are the same: for a mutated\nschedule, of that schedule; for a mutated algorithm, of the numbers of " +
		"ranks in the table, and of no larger ones. For source code, the\n" +
		"reasons are below.\n\nMutants of source code are a sample, drawn by a seed, without those that do not compile. " +
		"Mutants in the journal are not tried again.\n" +
		"Tests were written for some that had survived, which were then tried again: of a new sample, fewer may be killed. " +
		"These packages\nare mutated, without the folders below them, and no others: " + subjectNames() + ".\n" +
		"Tests that compare digests with the record of what was proved are left out: they fail on any change. Tests with " +
		"time limits, those of\nfast and the packages below it, have to fail twice.\n\n" +
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
	b.WriteString("\n## Of source code, with the same meaning\n\n| mutant | why |\n|---|---|\n")
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

// title returns the row's kind of mutants, and a note on which of them were tried.
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

// reasonOf returns why nothing found a surviving mutant.
func reasonOf(survivor string) string {
	if why, ok := missing[survivor]; ok {
		return why
	}
	return "not looked into"
}
