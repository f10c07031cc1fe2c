package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	museumFile  = "docs/lab/museum.md"
	mutantsFile = "docs/lab/mutants.md"
)

// museumPage returns the museum for people.
func museumPage() string {
	var b strings.Builder
	b.WriteString("# The museum\n\n" +
		"Real bugs of other libraries, each made in an algorithm or a source file of ours, and what finds it. The list is\n" +
		"`verify/mutate/museumdata.go`; this page is written by `go run ./verify/mutate -write`, and a test compares the two.\n" +
		"Found by: a rung of the ladder (`make prove`) and its check, or, in source code, a test. What it says of each prints\n" +
		"`go run ./verify/mutate -list`, with all other mutants.\n" +
		"What went wrong is told as far as the reference shows it.\n")
	for _, peer := range peers() {
		fmt.Fprintf(&b, "\n## %s\n\n| where | what went wrong | planted in | found by |\n|---|---|---|---|\n", peer)
		for _, x := range museum {
			if x.peer == peer {
				fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s |\n", shortReference(x.fix), x.fix, x.told(), x.where(), x.killer())
			}
		}
	}
	return b.String()
}

// peers returns the libraries of the museum, each once.
func peers() (all []string) {
	for _, x := range museum {
		if !slices.Contains(all, x.peer) {
			all = append(all, x.peer)
		}
	}
	return all
}

// told returns what went wrong there, and what is done here.
func (x *exhibit) told() string {
	if x.here == "" {
		return x.wrong
	}
	return x.wrong + " Here: " + x.here
}

// shortReference returns the end of a reference: the commit, or the number.
func shortReference(url string) string {
	parts := strings.Split(url, "/")
	kind, name := parts[len(parts)-2], parts[len(parts)-1]
	if kind == "commit" {
		return name
	}
	return "#" + name
}

// write writes the pages.
func (r *report) write(root string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(root, museumFile), []byte(museumPage()), 0o666),
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
