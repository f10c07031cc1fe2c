package main

import (
	"io"
	"strings"
)

// tableReport is a table for people, of which each row is written when it is known.
type tableReport struct {
	out      io.Writer
	baseline string // the name of its file
}

// conformRow is a row of the table.
const conformRow = "%-15s %7v %8v %17v  %s\n"

// begin writes the head of the table.
func (t *tableReport) begin(r *conformance) error {
	p := printer{out: t.out}
	if len(r.Environment) > 0 {
		title := r.Environment.String()
		p.printf("%s\n%s\n", title, strings.Repeat("=", len([]rune(title))))
	}
	if r.Name != "" {
		p.printf("%s, on %v ranks, seed %d\n\n", r.Name, (*rankList)(&r.Ranks), r.Seed)
		p.printf(conformRow, "primitive", "cases", "calls", "reduced elements", "")
	}
	return p.err
}

// part writes a row of the table, and the failures.
func (t *tableReport) part(_ *conformance, x *part) error {
	p := printer{out: t.out}
	p.printf(conformRow, x.name, x.counts.Cases, x.counts.Calls, x.counts.Elements, x.verdict())
	for _, f := range x.failures {
		if f.Known {
			p.printf("  known: %s\n    %s\n", f.short(), noteOrNone(f.Note))
		} else {
			p.printf("\n%v\n\n", f)
		}
	}
	return p.err
}

// noteOrNone returns a note, or words that say that there is none.
func noteOrNone(note string) string {
	if note == "" {
		return "(without a note)"
	}
	return note
}

// end writes what was not tested, and what is gone.
func (t *tableReport) end(r *conformance) error {
	p := printer{out: t.out}
	if r.Name == "" && len(r.Environment) == 0 {
		return nil // the error tells it
	}
	p.printf("\n")
	if r.Error != "" && len(r.Environment) > 0 {
		p.printf("error: %s\n", r.Error)
	}
	for _, missing := range r.NotTested {
		p.printf("not tested: %s\n", missing)
	}
	for _, k := range r.Gone {
		p.printf("gone: %v\n  %s\n", k, noteOrNone(k.Note))
	}
	if len(r.Gone) > 0 {
		p.printf("What is gone was tested, and does not fail any more: please remove it from %s.\n", t.baseline)
	}
	if len(r.Environment) > 0 {
		p.printf("\n")
	}
	return p.err
}

// close writes a line for each environment.
func (t *tableReport) close(all *conformances) error {
	p := printer{out: t.out}
	for _, r := range all.Runs {
		if len(r.Environment) > 0 {
			p.printf("%v: %s\n", r.Environment, r.verdict())
		}
	}
	return p.err
}
