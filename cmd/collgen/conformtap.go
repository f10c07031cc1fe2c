package main

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
)

// tapReport writes TAP version 14: a test point for each part, as soon as it is known.
type tapReport struct {
	out    io.Writer
	begun  bool
	points int
}

// begin writes the version, and a comment with the environment.
func (t *tapReport) begin(r *conformance) error {
	p := printer{out: t.out}
	t.version(&p)
	if r.Name != "" {
		p.printf("# %s%s, on %v ranks, seed %d\n", tapPrefix(r), tapLine(r.Name), (*rankList)(&r.Ranks), r.Seed)
	}
	return p.err
}

// version writes the first line of all.
func (t *tapReport) version(p *printer) {
	if !t.begun {
		p.printf("TAP version 14\n")
		t.begun = true
	}
}

// tapPrefix returns the environment, as it comes before a description.
func tapPrefix(r *conformance) string {
	if len(r.Environment) == 0 {
		return ""
	}
	return tapLine(r.Environment.String()) + ": "
}

// tapLine returns a text as a description: on one line, without a character that begins a directive.
func tapLine(text string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(oneLine(text))
}

// oneLine returns a text without line breaks, and other characters that cannot be shown.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return shown(r)
	}, text)
}

// point writes a test point.
func (t *tapReport) point(p *printer, ok bool, description, directive string) {
	t.points++
	word := "ok"
	if !ok {
		word = "not ok"
	}
	if directive != "" {
		directive = " # " + directive
	}
	p.printf("%s %d - %s%s\n", word, t.points, description, directive)
}

// part writes the point of x. Known failures are to be done: they do not make the whole fail. What was interrupted has
// no point unless it has failed.
func (t *tapReport) part(r *conformance, x *part) error {
	p := printer{out: t.out}
	name := tapPrefix(r) + x.name
	switch x.verdict() {
	case failsNew:
		t.point(&p, false, name, "")
	case failsKnown:
		t.point(&p, false, name, "TODO known: "+tapLine(notes(x.failures)))
	case interrupted:
		p.printf("# %s was interrupted after %d cases\n", name, x.counts.Cases)
		return p.err
	case untested:
		return nil // end says why
	default:
		t.point(&p, true, name, "")
	}
	for _, f := range x.failures {
		t.diagnose(&p, f)
	}
	return p.err
}

// notes returns the notes of known failures.
func notes(failures []*failedCase) string {
	var all []string
	for _, f := range failures {
		all = append(all, noteOrNone(f.Note))
	}
	return strings.Join(all, "; ")
}

// diagnose writes a failure as YAML; the strings are those of JSON, which YAML has, too.
func (t *tapReport) diagnose(p *printer, f *failedCase) {
	p.printf("  ---\n  message: %s\n  severity: fail\n", yamlString(f.problem()))
	p.printf("  kind: %s\n  case: %s\n  again: %s\n", f.Failure.Problems[0].Kind, yamlString(f.Failure.Case.JSON()),
		yamlString(f.Repeat))
	if f.Known {
		p.printf("  known: %s\n", yamlString(f.Note))
	}
	p.printf("  text: |-\n")
	for line := range strings.SplitSeq(f.String(), "\n") {
		p.printf("    %s\n", strings.TrimRight(strings.Map(shown, strings.ReplaceAll(line, "\t", "    ")), " "))
	}
	p.printf("  ...\n")
}

// yamlString returns a string in double quotes.
func yamlString(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.Map(shownOrSpace, text)) // a string can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// end writes what was not tested: a point for each primitive, and comments. What is gone is a comment, too.
func (t *tapReport) end(r *conformance) error {
	p := printer{out: t.out}
	primitives, others := r.skips()
	for _, s := range primitives {
		t.point(&p, true, tapPrefix(r)+s.name, "SKIP "+tapLine(s.why))
	}
	for _, s := range others {
		p.printf("# %snot tested: %s\n", tapPrefix(r), oneLine(s.name))
	}
	for _, k := range r.Gone {
		p.printf("# %sgone, was known to fail: %s: %s\n", tapPrefix(r), oneLine(k.String()), oneLine(noteOrNone(k.Note)))
	}
	if r.Error != "" && len(r.interrupted) == 0 {
		t.point(&p, false, tapPrefix(r)+"the test itself", "")
		p.printf("  ---\n  message: %s\n  severity: fail\n  ...\n", yamlString(r.Error))
	}
	return p.err
}

// close writes the plan, or why the rest is missing.
func (t *tapReport) close(all *conformances) error {
	p := printer{out: t.out}
	t.version(&p)
	if all.stopped != nil {
		p.printf("Bail out! %s\n", tapLine(all.stopped.Error()))
	} else {
		p.printf("1..%d\n", t.points)
	}
	return p.err
}
