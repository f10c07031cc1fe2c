package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The elements of a file of JUnit XML. Package xml replaces the characters that XML does not have.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     junitSeconds `xml:"time,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    junitSeconds `xml:"time,attr"`
		Skipped *junitText   `xml:"skipped"`
		Error   *junitText   `xml:"error"`
		Failure *junitText   `xml:"failure"`
		Output  string       `xml:"system-out,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	junitSeconds time.Duration
)

// MarshalText writes seconds.
func (d junitSeconds) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(d).Seconds()), nil
}

// UnmarshalText reads seconds.
func (d *junitSeconds) UnmarshalText(text []byte) error {
	seconds, err := time.ParseDuration(string(text) + "s")
	*d = junitSeconds(seconds)
	return err
}

// writeJUnit writes all that is known as JUnit XML: a suite for each environment.
func (h *heading) writeJUnit(w io.Writer, all *conformances) error {
	suites := junitSuites{Name: "collgen conform"}
	for _, r := range all.Runs {
		s := h.suite(r)
		suites.add(s.junitCounts)
		suites.Suites = append(suites.Suites, s)
	}
	text, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, strings.Map(shownOrSpace, string(text)))
	return err
}

// add adds the counts of a suite.
func (c *junitCounts) add(other junitCounts) {
	c.Tests += other.Tests
	c.Failures += other.Failures
	c.Errors += other.Errors
	c.Skipped += other.Skipped
	c.Time += other.Time
}

// suite returns the suite of an environment.
func (h *heading) suite(r *conformance) junitSuite {
	s := junitSuite{Name: "collgen conform", Timestamp: r.began.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{{"command", h.String()}, {"implementation", r.Name},
			{"ranks", (*rankList)(&r.Ranks).String()}, {"seed", fmt.Sprint(r.Seed)}}}
	class := "conform"
	if len(r.Environment) > 0 {
		s.Name += ", " + r.Environment.String()
		class += "[" + r.Environment.String() + "]"
	}
	for _, v := range r.Environment {
		s.Properties = append(s.Properties, junitProperty{"env", v.String()})
	}
	for _, p := range r.parts {
		s.Cases = append(s.Cases, p.junit(class+"."+p.name)...)
	}
	primitives, others := r.skips()
	for _, x := range append(primitives, others...) {
		name := x.name
		if !x.isPrimitive {
			name = "not tested: " + name
		}
		s.Cases = append(s.Cases, junitCase{Class: class, Name: name, Skipped: &junitText{Message: x.why}})
	}
	for _, k := range r.Gone {
		s.Cases = append(s.Cases, junitCase{Class: class, Name: "gone: " + k.String(),
			Output: "It was tested, and does not fail any more as it is known to: " + noteOrNone(k.Note)})
	}
	if r.Error != "" {
		s.Cases = append(s.Cases, junitCase{Class: class, Name: "the test itself",
			Error: &junitText{Message: r.Error, Text: r.Error}})
	}
	s.count()
	s.Time = junitSeconds(r.took)
	return s
}

// count counts the cases of s.
func (s *junitSuite) count() {
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// junit returns a case for each type and op of p.
func (p *part) junit(class string) (cases []junitCase) {
	if p.verdict() == untested {
		return nil
	}
	for _, typeOp := range p.typeOps() {
		c := junitCase{Class: class, Name: strings.TrimSpace(p.name + " " + typeOp)}
		tried := 0
		if x := p.cells[typeOp]; x != nil {
			c.Time, tried = junitSeconds(x.took), x.cases
		}
		c.judge(p.failing(typeOp), typeOp)
		c.Output = strings.TrimPrefix(c.Output+fmt.Sprintf("\n%d cases", tried), "\n")
		cases = append(cases, c)
	}
	return cases
}

// judge adds what fails with a type and op. Known failures do not make the case fail, and are skipped.
func (c *junitCase) judge(failures []*failedCase, typeOp string) {
	var news, known []string
	var first, firstKnown *failedCase
	for _, f := range failures {
		if f.Known || f.New != nil && !slices.Contains(f.New, typeOp) {
			known, firstKnown = append(known, f.String()), f
		} else {
			if news = append(news, f.String()); first == nil {
				first = f
			}
		}
	}
	switch {
	case first != nil:
		c.Failure = &junitText{Message: first.problem(), Type: string(first.Failure.Problems[0].Kind),
			Text: strings.Join(news, "\n\n")}
	case firstKnown != nil:
		c.Skipped = &junitText{Message: "it fails as known: " + noteOrNone(firstKnown.Note)}
	}
	c.Output = strings.Join(known, "\n\n")
}
