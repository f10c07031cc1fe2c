package golang

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/text"
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

// functionDoc returns the comment of the function with both buffers.
func functionDoc(p spec.Primitive, name string) string {
	doc := text.Paragraph(strings.Replace(p.Doc, p.Name, name, 1))
	if len(buffers(p)) > 0 {
		long := "a block has count elements"
		if p.IsUneven() {
			long = "n says how long blocks are"
		}
		doc += "\n" + text.Paragraph(lengths(p)+" In the conditions, in is src, out is dst, "+long+", and x[q] is the "+
			"input of rank q.")
	}
	return doc + text.Promise(p) + fmt.Sprintf("\nSpecification %s.\n", SpecHash(p))
}

// lengths says how long the buffers are.
func lengths(p spec.Primitive) string {
	if p.IsUneven() {
		return unevenLengths(p)
	}
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
	return text.Paragraph(p.Doc+" It works in place: "+how+".") + "\n" +
		text.Paragraph("["+into+"] states the conditions.")
}

// algorithmDoc returns the comment of the function of an algorithm, or of the members of one.
func algorithmDoc(members []Proved, name string) string {
	a := members[0]
	if a.Param.Value == 0 {
		doc := text.Paragraph(name+" is "+a.FullName()+". "+a.Doc) + text.Conditions(a.Primitive)
		doc += paragraphs(needs(a.Requires), costWords(&a.Algorithm), "Source: "+a.Source+".", a.proofWords())
		return doc + fmt.Sprintf("\nSpecification %s.\nAlgorithm %s.\n", SpecHash(a.Primitive), shortHash(a.Hash[:]))
	}
	doc := text.Paragraph(name+" has "+a.Param.Name+" for a parameter. "+a.Doc) + text.Conditions(a.Primitive)
	doc += paragraphs("Source: "+a.Source+".") + fmt.Sprintf("\nSpecification %s.\n", SpecHash(a.Primitive))
	for _, a := range members {
		is := fmt.Sprintf("With %s %d, it is %s.", a.Param.Name, a.Param.Value, a.FullName())
		doc += paragraphs(is, needs(a.Requires), costWords(&a.Algorithm), a.proofWords()) + fmt.Sprintf("\nAlgorithm %s.\n",
			shortHash(a.Hash[:]))
	}
	return doc
}

// paragraphs returns those of parts that say anything, each after an empty line.
func paragraphs(parts ...string) (doc string) {
	for _, part := range parts {
		if part != "" {
			doc += "\n" + text.Paragraph(part)
		}
	}
	return doc
}

// proofWords says what was proved of a.
func (a Proved) proofWords() string {
	a.Proof.Every.lends, a.Proof.Every.segment = induct.Lends(&a.Algorithm), induct.Follows(&a.Algorithm)
	return a.Proof.words(a.Primitive)
}

func needs(r gen.Requires) string {
	if words := text.Requirements(r); words != "" {
		return "Requires: " + words + "."
	}
	return ""
}

// costWords returns the algorithm's cost in words, as far as it is declared.
func costWords(a *gen.Algorithm) string {
	c := text.CostOf(a)
	var parts []string
	for _, part := range [][2]string{{c.Alpha, " messages"}, {c.Beta, " chunks sent"}, {c.Gamma, " chunks reduced"}} {
		if part[0] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	if parts == nil {
		return ""
	}
	words := "Cost on the critical path: " + strings.Join(parts, ", ")
	if c.Chunks != "1" {
		words += "; a block has " + c.Chunks + " chunks"
	}
	return words + "."
}
