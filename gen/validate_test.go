package gen

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

func TestCatalogueIsValid(t *testing.T) {
	for _, a := range Catalogue() {
		if err := Validate(&a); err != nil {
			t.Error(err)
		}
		if a.Cost.Alpha.IsAbsent() || a.Cost.Beta.IsAbsent() || a.Cost.Gamma.IsAbsent() {
			t.Errorf("%s does not state its cost", a.FullName())
		}
	}
}

func TestCatalogueCoversPrimitives(t *testing.T) {
	for _, p := range spec.Primitives() {
		if !slices.ContainsFunc(Catalogue(), func(a Algorithm) bool { return a.Primitive.Name == p.Name }) {
			t.Errorf("no algorithm carries out %s", p.Name)
		}
	}
}

// sound is an algorithm for the tests to spoil.
func sound() *Algorithm {
	return &Algorithm{
		Name: "sound", Primitive: spec.AllReduce, Doc: "A doc.", Source: "New.", Scratch: two, Chunks: size,
		Body: []Node{
			Let{"to", up(add(rank, one), size)},
			Step{Send{v("to"), block(in)}, Recv{From: v("to"), Into: Slot(scratch, zero, rank)}, Copy{Into: block(out), From: block(in)}},
		},
	}
}

func inStep(nodes ...Node) []Node { return []Node{Step(nodes)} }

func TestValidateFindsFaults(t *testing.T) {
	if err := Validate(sound()); err != nil {
		t.Fatal(err)
	}
	body := func(nodes ...Node) func(*Algorithm) { return func(a *Algorithm) { a.Body = nodes } }
	act := func(nodes ...Node) func(*Algorithm) { return body(inStep(nodes...)...) }
	send, copied := Send{rank, block(in)}, Copy{Into: block(out), From: block(in)}
	for _, tc := range []struct {
		name  string
		spoil func(*Algorithm)
		want  string
		node  int
	}{
		{"name missing", func(a *Algorithm) { a.Name = "" }, "lower-case words", -1},
		{"name not lower-case", func(a *Algorithm) { a.Name = "Ring" }, "lower-case words", -1},
		{"name ends in a hyphen", func(a *Algorithm) { a.Name = "ring-" }, "lower-case words", -1},
		{"primitive missing", func(a *Algorithm) { a.Primitive.Name = "" }, "Primitive is missing", -1},
		{"doc missing", func(a *Algorithm) { a.Doc = "" }, "Doc is missing", -1},
		{"source missing", func(a *Algorithm) { a.Source = "" }, "Source is missing", -1},
		{"size depends on rank", func(a *Algorithm) { a.Requires.Size = rank }, "Requires.Size: rank has no meaning", -1},
		{"chunks depend on rank", func(a *Algorithm) { a.Chunks = rank }, "Chunks: rank has no meaning", -1},
		{"scratch by a conditional", func(a *Algorithm) { a.Scratch = up(one, size) }, "Scratch: if", -1},
		{"cost depends on root", func(a *Algorithm) { a.Cost.Beta = root }, "Cost.Beta: root has no meaning", -1},

		{"node missing", body(nil), "a node is missing", -1},
		{"action outside", body(send), "send stands outside", 0},
		{"step in step", body(Step{Step{send}}), "stands inside of a Step", -1},
		{"second action is wrong", act(send, Send{v("x"), block(in)}), "To: x has no meaning", 1},
		{"name used before", body(Step{Send{v("x"), block(in)}}, Let{"x", one}), "To: x has no meaning", 0},
		{"condition of no meaning", body(If{v("x"), inStep(copied), nil}), "x has no meaning", -1},
		{"name of an inner body", body(If{one, []Node{Let{"x", one}}, nil}, Let{"y", v("x")}), "y: x has no meaning", -1},
		{"loop variable after the loop", body(For{"i", one, nil}, Let{"y", v("i")}), "y: i has no meaning", -1},
		{"root without root", act(Send{root, block(in)}), "To: root has no meaning", 0},
		{"its own name", body(Let{"x", v("x")}), "x: x has no meaning", -1},
		{"name twice", body(Let{"x", one}, Let{"x", one}), "the name x has a meaning already", -1},
		{"name shadowed by a loop", body(Let{"i", one}, For{"i", one, nil}), "the name i has a meaning", -1},
		{"name shadowed by a reduction", body(Let{"i", one}, Step{Reduce{block(out), "i", two, block(in)}}), "the name i has a meaning", 0},
		{"buffer called as a variable", body(Let{"x", one}, LetBuf{"x", one, in, out}), "the name x has a meaning", -1},
		{"parameter's name", body(Let{"root", one}), "the name root has a meaning", -1},
		{"buffer's name", body(LetBuf{"in", one, in, out}), "the name in has a meaning", -1},
		{"no identifier", body(Let{"two words", one}), "cannot be the name", -1},
		{"keyword", body(For{"range", one, nil}), "cannot be the name", -1},

		{"expression missing", body(Let{Name: "x"}), "x is missing", -1},
		{"operand missing", body(Let{"x", add(one, expr{})}), "x: 1 + none lacks an operand", -1},
		{"no expression", body(Let{"x", expr{Kind: spec.AddExpr}}), "is not an expression", -1},
		{"no kind", body(Let{"x", expr{Kind: 200}}), "is not an expression", -1},
		{"conditional in an action", act(Send{up(rank, size), block(in)}), "only in a Let of its own", 0},
		{"conditional in a sum", body(Let{"x", add(one, up(rank, size))}), "only in a Let of its own", -1},
		{"conditional in a condition", body(Let{"x", cond(up(rank, size), one, two)}), "only in a Let of its own", -1},

		{"no such buffer", act(Finish{block("data")}), `no buffer "data"`, 0},
		{"scratch not declared", func(a *Algorithm) { a.Scratch = expr{} }, "declares no scratch", 1},
		{"no input", func(a *Algorithm) { a.Primitive.In.Blocks = expr{} }, "has no buffer in", 0},
		{"no op", func(a *Algorithm) { a.Primitive, a.Body = spec.AllGather, inStep(Finish{block(out)}) }, "AllGather has no op", 0},
		{"no data", act(Finish{}), `no buffer ""`, 0},
		{"a buffer's place missing", act(Send{rank, Region{Buf: in}}), "place in in is missing", 0},
		{"place without a buffer", act(Send{rank, Region{At: one}}), `no buffer ""`, 0},
		{"slot without Like", act(Finish{block(scratch)}), "needs Like", 0},
		{"named slot without Like", body(LetBuf{"sum", one, out, scratch}, LetBuf{"acc", one, out, "sum"}, Step{Finish{block("acc")}}), "needs Like", 0},
		{"two slots", act(Finish{Region{scratch, zero, two, one}}), "is a single slot", 0},
		{"Like of a chunk", act(Finish{Slot(out, zero, one)}), "needs no Like", 0},
		{"buffer as a number", body(LetBuf{"x", one, in, out}, Let{"y", v("x")}), "y: x has no meaning", -1},

		{"message after a local action", act(copied, send), "after a local action", 1},
		{"message after local actions of both branches", act(If{one, []Node{copied}, []Node{copied}}, send), "after a local action", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := sound()
			tc.spoil(a)
			err := Validate(a)
			var ne *NodeError
			if !errors.As(err, &ne) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if ne.Node != tc.node {
				t.Errorf("the error is about action %d, want %d", ne.Node, tc.node)
			}
		})
	}
}

// TestValidateAllows guards against refusing what may be right.
func TestValidateAllows(t *testing.T) {
	send, copied := Send{v("to"), block(in)}, Copy{Into: block(out), From: block(in)}
	for name, body := range map[string][]Node{
		"message after a local action of one branch": inStep(If{rank, []Node{copied}, nil}, send),
		"message after a local action of a loop":     inStep(For{"i", rank, []Node{copied}}, send),
		"local action in an earlier step":            {Step{copied}, Step{send}},
		"a name in two bodies":                       {If{rank, []Node{Let{"x", one}}, []Node{Let{"x", two}}}},
		"a chain of conditionals":                    {Let{"x", cond(rank, one, cond(size, two, zero))}},
		"a signal":                                   inStep(Send{To: v("to")}),
	} {
		a := sound()
		a.Body = append([]Node{Let{"to", one}}, body...)
		if err := Validate(a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
