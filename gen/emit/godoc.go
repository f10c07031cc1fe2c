package emit

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// The comments above generated functions.

// comment returns text as a comment, line by line.
func comment(text string) *jen.Statement {
	code := &jen.Statement{}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			code.Line()
		}
		code.Comment(strings.TrimRight("// "+line, " "))
	}
	return code
}

// lineLength is the length of a line of comment, its slashes not counted.
const lineLength = 116

// marker is a word that would make a list of a line that begins with it.
var marker = regexp.MustCompile(`^([-+*•]|\d+[.)])$`)

// wrap breaks text into lines, of which the first one starts with first and the others with next.
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

func paragraph(text string) string { return wrap(text, "", "") }

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

// Promise returns what p asks of its callers and what it promises them, in words and formulas.
func Promise(p spec.Primitive) string {
	d := spec.Describe(p)
	return promise(d) + order(d) + conditions("Refused", d.Refused)
}

// promise returns what a primitive asks for and promises, with the names in and out for its buffers.
func promise(d spec.Description) string {
	text := conditions("Before", d.Before) + conditions("After", d.After)
	if d.InPlace.Words != "" {
		text += "\n" + paragraph("In place: "+sentence(d.InPlace))
	}
	return text
}

func order(d spec.Description) string {
	if d.Order == "" {
		return ""
	}
	return "\n" + paragraph("Order: "+d.Order)
}

// functionDoc returns the comment of the function with both buffers.
func functionDoc(p spec.Primitive, name string) string {
	d := spec.Describe(p)
	text := paragraph(strings.Replace(p.Doc, p.Name, name, 1))
	if len(buffers(p)) > 0 {
		text += "\n" + paragraph(lengths(p)+" In the conditions, in is src, out is dst, a block has count elements, and x[q] is the "+
			"input of rank q.")
	}
	text += promise(d) + order(d)
	return text + conditions("Refused", d.Refused) + fmt.Sprintf("\nSpecification %s.\n", SpecHash(p))
}

// lengths says how long the buffers are.
func lengths(p spec.Primitive) string {
	dst, src := sides(p)
	var all []string
	for _, s := range []side{src, dst} {
		if !s.exists() {
			continue
		}
		text := fmt.Sprintf("len(%s) is %v*count", s.name, s.Blocks)
		if s.blocks() == 1 {
			text = fmt.Sprintf("len(%s) is count", s.name)
		}
		if !s.On.IsAbsent() {
			text += fmt.Sprintf(" where %v, and what others pass is ignored", s.On)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ") + "."
}

// inPlaceDoc returns the comment of the function with one buffer.
func inPlaceDoc(p spec.Primitive, share sharing) string {
	into := p.Name + "Into"
	how := "buf is both src and dst of [" + into + "]"
	if !share.equal {
		part := "its block"
		if n := share.part.blocks(); n > 1 {
			part = fmt.Sprintf("its %d blocks from block", n)
		}
		how = fmt.Sprintf("buf is %s of [%s], and %s %v is %s", share.whole.name, into, part, share.at, share.part.name)
		if on := share.whole.On; !on.IsAbsent() {
			how = fmt.Sprintf("where %v, %s; elsewhere buf is %s", on, how, share.part.name)
		}
		if on := share.part.On; !on.IsAbsent() {
			how += fmt.Sprintf("; where not %v, buf is only %s", on, share.whole.name)
		}
	}
	return paragraph(p.Doc+" It works in place: "+how+".") + "\n" + paragraph("["+into+"] states the conditions.")
}

// algorithmDoc returns the comment of an algorithm's function.
func algorithmDoc(a Proved, name string) string {
	a.Proof.Every.lends, a.Proof.Every.segment = induct.Lends(&a.Algorithm), induct.Follows(&a.Algorithm)
	text := paragraph(name+" is "+a.FullName()+". "+a.Doc) + promise(spec.Describe(a.Primitive))
	for _, part := range []string{needs(a.Requires), costWords(&a.Algorithm), "Source: " + a.Source + ".", a.Proof.words(a.Primitive)} {
		if part != "" {
			text += "\n" + paragraph(part)
		}
	}
	return text + fmt.Sprintf("\nSpecification %s.\nAlgorithm %s.\n", SpecHash(a.Primitive), shortHash(a.Hash[:]))
}

func needs(r gen.Requires) string {
	if words := Requirements(r); words != "" {
		return "Requires: " + words + "."
	}
	return ""
}

// costWords returns the algorithm's cost in words, as far as it is declared.
func costWords(a *gen.Algorithm) string {
	c := CostOf(a)
	var parts []string
	for _, part := range [][2]string{{c.Alpha, " messages"}, {c.Beta, " chunks sent"}, {c.Gamma, " chunks reduced"}} {
		if part[0] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	if parts == nil {
		return ""
	}
	text := "Cost on the critical path: " + strings.Join(parts, ", ")
	if c.Chunks != "1" {
		text += "; a block has " + c.Chunks + " chunks"
	}
	return text + "."
}
