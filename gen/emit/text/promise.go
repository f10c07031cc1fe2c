package text

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/collgen/collgen/spec"
)

// Promise returns what p requires of its callers, what it promises them, the order of its reduction and what it
// refuses, in words and formulas.
func Promise(p spec.Primitive) string {
	d := spec.Describe(p)
	text := conditionsOf(d)
	if d.Order != "" {
		text += "\n" + Paragraph("Order: "+d.Order)
	}
	return text + conditions("Refused", d.Refused)
}

// Conditions returns what p requires and promises, with the names in and out for its buffers.
func Conditions(p spec.Primitive) string { return conditionsOf(spec.Describe(p)) }

func conditionsOf(d spec.Description) string {
	text := conditions("Before", d.Before) + conditions("After", d.After)
	if d.InPlace.Words != "" {
		text += "\n" + Paragraph("In place: "+sentence(d.InPlace))
	}
	return text
}

// conditions lists conditions under a heading.
func conditions(heading string, list []spec.Condition) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + heading + ":\n")
	for _, c := range list {
		b.WriteString(wrap(sentence(c), "  - ", "    "))
	}
	return b.String()
}

// sentence returns a condition in words and as a formula.
func sentence(c spec.Condition) string {
	if c.Formula == "" {
		return c.Words
	}
	return strings.TrimSuffix(c.Words, ".") + ": " + c.Formula + "."
}

// Paragraph returns text, broken into lines.
func Paragraph(text string) string { return wrap(text, "", "") }

// lineLength is the length of a line in a Go comment, without the slashes.
const lineLength = 116

// marker matches a word that would turn a line of a Go comment into a list item if the line began with it.
var marker = regexp.MustCompile(`^([-+*•]|\d+[.)])$`)

// wrap breaks text into lines. The first one starts with first, the others with next.
func wrap(text, first, next string) string {
	var lines []string
	line, start := first, true
	for _, word := range strings.Fields(text) {
		if !start && utf8.RuneCountInString(line+word) >= lineLength && !marker.MatchString(word) {
			lines = append(lines, line)
			line, start = next, true
		}
		if !start {
			line += " "
		}
		line, start = line+word, false
	}
	return strings.Join(append(lines, line), "\n") + "\n"
}
