package text

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/collgen/collgen/spec"
)

// Columns is the length of a line.
type Columns int

// Promise returns what p requires of its callers, what it promises them, the order of its reduction and what it
// refuses, in words and formulas.
func Promise(p spec.Primitive) string { return lineLength.Promise(p) }

// Promise returns the same in lines of n columns.
func (n Columns) Promise(p spec.Primitive) string {
	d := spec.Describe(p)
	text := n.conditionsOf(d)
	if d.Order != "" {
		text += "\n" + n.Paragraph("Order: "+d.Order)
	}
	return text + n.conditions("Refused", d.Refused)
}

// Conditions returns what p requires and promises, with the names in and out for its buffers.
func Conditions(p spec.Primitive) string { return lineLength.conditionsOf(spec.Describe(p)) }

func (n Columns) conditionsOf(d spec.Description) string {
	text := n.conditions("Before", d.Before) + n.conditions("After", d.After)
	if d.InPlace.Words != "" {
		text += "\n" + n.Paragraph("In place: "+sentence(d.InPlace))
	}
	return text
}

// conditions lists conditions under a heading.
func (n Columns) conditions(heading string, list []spec.Condition) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + heading + ":\n")
	for _, c := range list {
		b.WriteString(n.wrap(sentence(c), "  - ", "    "))
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
func Paragraph(text string) string { return lineLength.Paragraph(text) }

// Paragraph returns text, broken into lines of n columns.
func (n Columns) Paragraph(text string) string { return n.wrap(text, "", "") }

// lineLength is the length of a line in a Go comment, without the slashes.
const lineLength Columns = 116

// marker matches a word that would turn a line of a Go comment into a list item if the line began with it.
var marker = regexp.MustCompile(`^([-+*•]|\d+[.)])$`)

// wrap breaks text into lines. The first one starts with first, the others with next.
func (n Columns) wrap(text, first, next string) string {
	var lines []string
	line, start := first, true
	for _, word := range strings.Fields(text) {
		if !start && utf8.RuneCountInString(line+word) >= int(n) && !marker.MatchString(word) {
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
