package python

import (
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/c"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// docColumns is how long the lines of a docstring are, without its indentation and quotation marks.
const docColumns text.Columns = 109

// method is the method of a primitive.
type method struct {
	Name   string
	Params []param
	Doc    string // indented
}

// param is a parameter of a method, or the star before those that are passed by name.
type param struct{ Name, Type, Default string }

// String declares p.
func (p param) String() string {
	switch {
	case p.Type == "":
		return p.Name
	case p.Default == "":
		return p.Name + ": " + p.Type
	}
	return p.Name + ": " + p.Type + " = " + p.Default
}

// Given prints what a program has passed to m.
func (m method) Given() string {
	var list []string
	for _, p := range m.Params {
		if p.Type != "" {
			list = append(list, p.Name+"="+p.Name)
		}
	}
	given := strings.Join(list, ", ")
	if len(given) > 90 {
		given = "\n            " + given + "\n        "
	}
	return "Given(" + given + ")"
}

// methodOf returns the method of p, whose function has the signature s.
func methodOf(p spec.Primitive, s c.Signature) method {
	m := method{Name: methodName(p)}
	if s.Dst.Blocks != 0 || s.Src.Blocks != 0 {
		m.Params = params(s)
	}
	doc := docColumns.Paragraph(strings.Replace(p.Doc, p.Name, m.Name, 1))
	if about := arguments(s); about != "" {
		doc += "\n" + about
	}
	doc += docColumns.Promise(p)
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(doc, "\n"), "\n") {
		if i > 0 && line != "" {
			b.WriteString("        ")
		}
		b.WriteString(line + "\n")
	}
	m.Doc = b.String()
	return m
}

// params returns the parameters of the method. Those that decide what the call does come before those that say where
// the result goes.
func params(s c.Signature) []param {
	list := []param{{Name: "x", Type: "Any"}}
	if s.Src.On == "root" || s.InPlace != "" {
		list[0].Default = "None"
	}
	counts := param{"counts", "Sequence[int] | None", "None"}
	uneven := s.Src.Uneven || s.Dst.Uneven
	if uneven {
		list = append(list, counts)
	}
	if slices.Contains(s.Params, "op") {
		list = append(list, param{"op", "str | Op", `"sum"`})
	}
	if slices.Contains(s.Params, "root") {
		list = append(list, param{"root", "int", "0"})
	}
	list = append(list, param{"out", "Any", "None"}, param{Name: "*"})
	if s.Src.Uneven && s.Dst.Uneven {
		list = append(list, param{"out_counts", counts.Type, "None"})
	}
	if uneven {
		list = append(list, param{"displs", counts.Type, "None"})
	}
	if s.Src.Uneven && s.Dst.Uneven {
		list = append(list, param{"out_displs", counts.Type, "None"})
	}
	return append(list, param{"dtype", "Any", "None"})
}

// where says which ranks pass a buffer or get a result.
var where = map[string]string{"all": "", "root": " on the root", "others": " on all ranks but the first"}

// arguments says what the arguments of the method are, and what it returns.
func arguments(s c.Signature) string {
	if s.Dst.Blocks == 0 && s.Src.Blocks == 0 {
		return ""
	}
	lines := []string{"x: " + shapeOfX(s)}
	if s.Src.Uneven || s.Dst.Uneven {
		lines = append(lines, "counts, displs: "+unevenWords(s))
	}
	out := "out: where the result goes" + where[s.Dst.On] + ": a writable buffer"
	switch {
	case s.Src.On == "root" && s.InPlace == "dst":
		out += "; None: x, which all ranks pass then, and the others as room for the result."
	case s.Src.On == "root":
		out += "; None: a new one on the root, and the others need one."
	default:
		out += "; None: a new one of the kind of x."
	}
	if place := places[s.InPlace]; place != "" {
		out += " " + place
	}
	lines = append(lines, out, "Returns out, or the new buffer"+returned(s))
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(docColumns.Paragraph(line))
	}
	return b.String()
}

// places says how a call is made in place.
var places = map[string]string{
	"dst":      "In place, out is x, or x is None.",
	"dst rank": "In place, x is None, and lies where out has the block of this rank.",
	"dst root": "In place on the root, x is None, and lies where out has the block of the root.",
	"src rank": "In place, it is the block of this rank in x.",
	"src root": "In place on the root, it is the block of the root in x.",
}

// shapeOfX says what x is.
func shapeOfX(s c.Signature) string {
	words := "the block of this rank"
	switch {
	case s.Src.Uneven:
		words = "one block for each rank, one after the other"
	case s.Src.Blocks == c.EachRank && s.Dst.Blocks == c.EachRank:
		words = "one block for each rank, of as many elements"
	case s.Src.Blocks == c.EachRank:
		words = "one block for each rank: x[q] is that of rank q"
	}
	if s.Src.On == "root" {
		words += ", on the root; elsewhere it is not used"
		if s.InPlace == "dst" {
			words += " with out"
		}
	}
	return words + "."
}

// unevenWords says what the counts and displacements are.
func unevenWords(s c.Signature) string {
	const displs = "where they begin; None: one after the other."
	switch {
	case s.Src.Uneven && s.Dst.Uneven:
		return "how many elements the blocks in x have, and " + displs + " out_counts and out_displs say so of out; with " +
			"None for out_counts, the ranks tell each other first."
	case s.Src.Uneven && s.Src.On == "root":
		return "how many elements the blocks in x have, and " + displs + " The root alone passes them."
	case s.Src.Uneven:
		return "how many elements the blocks in x have, and " + displs
	case s.Dst.On == "root":
		return "how many elements the blocks in out have, and " + displs + " With None for counts on all ranks, the ranks " +
			"tell the root first."
	}
	return "how many elements the blocks in out have, and " + displs + " With None for counts on all ranks, the ranks " +
		"tell each other first."
}

// returned says which shape a new buffer has, and where there is none.
func returned(s c.Signature) string {
	words := "of the shape of x"
	switch {
	case s.Dst.Uneven || s.Src.Uneven:
		words = "with one axis"
	case s.Dst.Blocks == c.EachRank && s.Src.Blocks != c.EachRank:
		words = "whose first axis is that of the ranks: result[q] is the block of rank q"
	case s.Src.Blocks == c.EachRank && s.Dst.Blocks != c.EachRank:
		words = "of the shape of x[q]"
	}
	switch s.Dst.On {
	case "root":
		words += "; None on the other ranks"
	case "others":
		words += "; None on the first rank"
	}
	return ", " + words + "."
}
