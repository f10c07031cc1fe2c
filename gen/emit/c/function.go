package c

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// errShape says that no C function is printed for a primitive.
var errShape = errors.New("no C function is printed for a primitive of this shape")

// isPair reports whether p is a call between two ranks.
func isPair(p spec.Primitive) bool { return slices.Contains(p.Params, spec.ParamPeer) }

// buffer is one of the two buffers of a function.
type buffer struct {
	spec.Buffer
	name   string // "dst"
	blocks string // how many blocks it has: a number, or each for one of each rank
	on     string // which ranks pass it, as one of those in ranksOf; "": all
	uneven bool   // it has counts and displs
}

// each stands for a block of each rank.
const each = "COLLGEN_EACH"

// ranksOf has the ranks that pass a buffer which not all ranks pass, by the condition, as C and in words.
var ranksOf = map[string]struct{ c, words, name string }{
	spec.Eq(spec.Rank, spec.Root).String():   {"COLLGEN_ON_ROOT", "on the root", "root"},
	spec.Gt(spec.Rank, spec.Int(0)).String(): {"COLLGEN_ON_OTHERS", "on all ranks but the first", "others"},
}

// functionOf returns the function of p.
func functionOf(p spec.Primitive) (function, error) {
	dst, src, at, err := shapeOf(p)
	if err != nil {
		return function{}, err
	}
	return function{Comment: comment(p, dst, src, at), Prototype: prototype(p, dst, src), Body: body(p, dst, src, at)}, nil
}

// functionName returns the name of the function of p.
func functionName(p spec.Primitive) string { return "collgen_" + strings.ToLower(p.Name) }

// shapeOf returns the buffers of p as its function has them, and where they lie in place.
func shapeOf(p spec.Primitive) (dst, src buffer, at place, err error) {
	if dst, err = bufferOf(p, "dst", p.Out); err != nil {
		return dst, src, at, err
	}
	if src, err = bufferOf(p, "src", p.In); err != nil {
		return dst, src, at, err
	}
	at, err = placeOf(p, dst, src)
	return dst, src, at, err
}

// bufferOf returns a buffer of p as its function has it; one of no blocks if no rank passes it.
func bufferOf(p spec.Primitive, name string, b spec.Buffer) (buffer, error) {
	is := buffer{Buffer: b, name: name}
	switch {
	case b.Blocks.IsAbsent():
		is.blocks = "0"
	case b.Blocks.Kind == spec.Const:
		is.blocks = fmt.Sprint(b.Blocks.N)
	case b.Blocks.String() == spec.Size.String():
		is.blocks, is.uneven = each, p.IsUneven()
	default:
		return is, fmt.Errorf("%w: %s of %s has %v blocks", errShape, name, p.Name, b.Blocks)
	}
	if !b.On.IsAbsent() {
		is.on = b.On.String()
		if _, ok := ranksOf[is.on]; !ok {
			return is, fmt.Errorf("%w: ranks where %v pass %s of %s", errShape, b.On, name, p.Name)
		}
	}
	return is, nil
}

// place is where the two buffers lie in place: part is block at of whole, or both are the same.
type place struct {
	whole, at string // whole is "dst" or "src"; at is "rank" or "root", or "" if both are the same
}

// placeOf returns how a call of p is in place; the zero place if it never is.
func placeOf(p spec.Primitive, dst, src buffer) (place, error) {
	in, out := p.InPlace.InBlock, p.InPlace.OutBlock
	if in.IsAbsent() || out.IsAbsent() {
		return place{}, nil
	}
	is := place{whole: "dst"}
	first := spec.Int(0).String()
	switch {
	case in.String() == out.String() && dst.blocks == src.blocks:
	case in.String() == first && dst.blocks == each:
		is.at = out.String()
	case out.String() == first && src.blocks == each:
		is.whole, is.at = "src", in.String()
	default:
		return is, fmt.Errorf("%w: block %v of in of %s is block %v of out", errShape, in, p.Name, out)
	}
	if is.at != "" && is.at != spec.Rank.String() && is.at != spec.Root.String() {
		return is, fmt.Errorf("%w: in place, %s lies at %s in the other buffer", errShape, p.Name, is.at)
	}
	return is, nil
}

// prototype prints the head of the function.
func prototype(p spec.Primitive, dst, src buffer) string {
	params := append([]string{"collgen_comm comm"}, declarations(p, dst, src)...)
	params = append(params, "const collgen_options *options", "collgen_work *work")
	return wrapped("int "+functionName(p)+"(", params)
}

// declarations returns the parameters of the function between the communicator and the options.
func declarations(p spec.Primitive, dst, src buffer) []string {
	var params []string
	for _, b := range []buffer{dst, src} {
		if b.blocks == "0" {
			continue
		}
		params = append(params, map[string]string{"dst": "void *dst", "src": "const void *src"}[b.name])
		if b.uneven {
			params = append(params, fmt.Sprintf("const int64_t *%s_counts", b.name),
				fmt.Sprintf("const int64_t *%s_displs", b.name))
		}
	}
	if hasCount(p, dst, src) {
		params = append(params, "int64_t count")
	}
	if len(params) > 0 {
		params = append(params, "collgen_type type")
	}
	for _, x := range p.Params {
		params = append(params, map[spec.Param]string{spec.ParamOp: "collgen_op op", spec.ParamRoot: "int root"}[x])
	}
	return params
}

// hasCount reports whether the function has a parameter for the elements of a block: not if all are known by counts.
func hasCount(p spec.Primitive, dst, src buffer) bool {
	return dst.blocks+src.blocks != "00" && !p.SameCounts() && !(dst.uneven && src.uneven)
}

// lineLength is the most columns that a line of C has.
const lineLength = 120

// wrapped prints a list of parameters after head, broken into lines.
func wrapped(head string, params []string) string {
	var b strings.Builder
	line := head
	for i, p := range params {
		end := map[bool]string{true: ")", false: ","}[i == len(params)-1]
		if i > 0 && len(line)+len(" "+p+end)+3 > lineLength {
			b.WriteString(line + "\n")
			line = "\t" + p + end
			continue
		}
		if i > 0 {
			line += " "
		}
		line += p + end
	}
	return b.String() + line
}

// body prints the fields of a call.
func body(p spec.Primitive, dst, src buffer, at place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\t\tNAME(%q),\n", p.Name)
	for _, x := range []buffer{dst, src} {
		if x.blocks == "0" {
			continue
		}
		fmt.Fprintf(&b, "\t\t.%[1]s = {.data = (uintptr_t)%[1]s, .blocks = %[2]s", x.name, x.blocks)
		if x.on != "" {
			fmt.Fprintf(&b, ", .on = %s", ranksOf[x.on].c)
		}
		if x.uneven {
			fmt.Fprintf(&b, ", .uneven = 1, .counts = %[1]s_counts, .displs = %[1]s_displs", x.name)
		}
		b.WriteString("},\n")
	}
	if hasCount(p, dst, src) {
		b.WriteString("\t\t.count = count,\n")
	}
	if p.SameCounts() {
		b.WriteString("\t\t.same_counts = 1,\n")
	}
	if dst.blocks+src.blocks != "00" {
		b.WriteString("\t\t.type = type,\n")
	}
	for _, x := range p.Params {
		fmt.Fprintf(&b, "\t\t.%[1]s = %[1]s,\n", x)
	}
	if at.whole != "" {
		fmt.Fprintf(&b, "\t\t.in_place = COLLGEN_%s%s,\n", strings.ToUpper(at.whole),
			map[string]string{"": "_SAME", "rank": "_RANK", "root": "_ROOT"}[at.at])
	}
	return b.String()
}

// comment prints what the function requires and promises.
func comment(p spec.Primitive, dst, src buffer, at place) string {
	doc := text.Paragraph(strings.Replace(p.Doc, p.Name, functionName(p), 1))
	if words := shapes(p, dst, src, at); words != "" {
		doc += "\n" + text.Paragraph(words)
	}
	doc += text.Promise(p)
	var b strings.Builder
	b.WriteString("/*\n")
	for line := range strings.Lines(doc) {
		b.WriteString(strings.TrimRight(" * "+line, " \n") + "\n")
	}
	return b.String() + " */"
}

// shapes says how long the buffers are, and where they lie in place.
func shapes(p spec.Primitive, dst, src buffer, at place) string {
	var parts []string
	for _, x := range []buffer{dst, src} {
		var words string
		switch {
		case x.blocks == "0":
			continue
		case x.uneven:
			words = fmt.Sprintf("%[1]s has %[1]s_counts[q] elements for each rank q", x.name)
		case x.blocks == each:
			words = x.name + " has size·count elements"
		case p.SameCounts():
			words = x.name + " has as many as counts says of this rank"
		case x.blocks == "1":
			words = x.name + " has count elements"
		default:
			words = x.name + " has " + x.blocks + "·count elements"
		}
		if x.on != "" {
			words += " " + ranksOf[x.on].words + ", and is not used elsewhere"
		}
		parts = append(parts, words)
	}
	if parts == nil {
		return ""
	}
	words := strings.Join(parts, "; ") + "."
	other := map[string]string{"dst": "src", "src": "dst"}[at.whole]
	switch {
	case at.whole == "":
		return words + " It is never in place."
	case at.at == "":
		return words + " In place, either may be COLLGEN_IN_PLACE, and both are the other one."
	}
	words += fmt.Sprintf(" In place, %s is COLLGEN_IN_PLACE, and lies where %s has the block of ", other, at.whole)
	if at.at == "root" {
		return words + "the root, which alone may pass it."
	}
	return words + "this rank."
}
