package main

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit"
	"github.com/collgen/collgen/spec"
)

// selection is what explain says of a primitive: its promise, and which algorithm a call gets.
type selection struct {
	Name    string           `json:"name"`
	Doc     string           `json:"doc"`
	Hash    string           `json:"hash"`
	Promise spec.Description `json:"promise"`
	Size    int              `json:"size"`
	Choices []choice         `json:"choices"`
}

// choice is the algorithm for blocks of from to to bytes, and the rule that says so.
type choice struct {
	Algorithm string   `json:"algorithm"`
	From      int      `json:"from"`
	To        int      `json:"to"` // 0: any number
	Line      int      `json:"line"`
	Rule      gen.Rule `json:"rule"`
}

// primitive is the primitive called name.
func (s *source) primitive(name string) (p spec.Primitive, ok bool) {
	for _, p := range s.primitives {
		if strings.EqualFold(p.Name, name) {
			return p, true
		}
	}
	return p, false
}

// choices are the algorithms of calls with size ranks, smallest blocks first.
func (s *source) choices(p spec.Primitive, size int) []choice {
	serves := map[string]bool{}
	for _, a := range s.of(p) {
		serves[a.Name] = a.Serves(size)
	}
	var list []choice
	from := 0
	for i, r := range s.rules(p) {
		if !serves[r.Algorithm] || !r.Matches(size, from) {
			continue
		}
		list = append(list, choice{r.Algorithm, from, r.MaxBytes, i + 1, r})
		if r.MaxBytes == 0 {
			break
		}
		from = r.MaxBytes + 1
	}
	return list
}

// explainPrimitive is collgen explain of a primitive.
func (c *call) explainPrimitive(s *source, p spec.Primitive) error {
	size := c.sizes.from
	x := selection{p.Name, p.Doc, emit.SpecHash(p), spec.Describe(p), size, s.choices(p, size)}
	if c.json {
		return writeJSON(c.stdout, x)
	}
	fmt.Fprintf(c.stdout, "%s.\n\n%s\n%s\nWhich algorithm a call of %d %s gets:\n\n", s.title(), p.Doc, emit.Promise(p), size, plural(size, "rank"))
	t := newTable(c.stdout)
	t.row("bytes in a block", "algorithm", "because of")
	for _, x := range x.Choices {
		t.row(x.bytes(), x.Algorithm, x.reason())
	}
	t.flush()
	if len(x.Choices) == 0 {
		fmt.Fprintln(c.stdout, "None serves this size: such calls are refused.")
	}
	return nil
}

func (x choice) bytes() string {
	if x.To == 0 {
		return fmt.Sprintf("from %d on", x.From)
	}
	return fmt.Sprintf("%d to %d", x.From, x.To)
}

// reason is the rule in words.
func (x choice) reason() string {
	var on []string
	switch r := x.Rule; {
	case r.MinSize > 1 && r.MaxSize > 0:
		on = append(on, fmt.Sprintf("%d to %d ranks", r.MinSize, r.MaxSize))
	case r.MinSize > 1:
		on = append(on, fmt.Sprintf("at least %d ranks", r.MinSize))
	case r.MaxSize > 0:
		on = append(on, fmt.Sprintf("at most %d ranks", r.MaxSize))
	}
	if x.Rule.MaxBytes > 0 {
		on = append(on, fmt.Sprintf("at most %d bytes", x.Rule.MaxBytes))
	}
	if on == nil {
		on = []string{"all calls that no line before is for"}
	}
	text := fmt.Sprintf("line %d: %s", x.Line, strings.Join(on, ", "))
	if x.Rule.PieceBytes > 0 {
		text += fmt.Sprintf("; in pieces of %d bytes", x.Rule.PieceBytes)
	}
	return text
}
