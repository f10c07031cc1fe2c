package gen_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

func TestCatalogueIsValid(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		if err := gen.Validate(&a); err != nil {
			t.Error(err)
		}
		summed := a.FullName() == catalogue.AllToAllBruck.FullName()    // what it sends is a sum over its steps
		waits := a.DeclaredName() == catalogue.AllReduceDoubleTree.Name // for one tree or the other, as the size has it
		parts := a.DeclaredName() == catalogue.GatherKNomial.Name       // which one is smaller depends on the root
		if a.Cost.Alpha.IsAbsent() && !waits || a.Cost.Beta.IsAbsent() && !summed && !waits && !parts ||
			a.Cost.Gamma.IsAbsent() {
			t.Errorf("%s does not state its cost", a.FullName())
		}
	}
}

func TestCatalogueCoversPrimitives(t *testing.T) {
	for _, p := range spec.Primitives() {
		if !slices.ContainsFunc(catalogue.Algorithms(), func(a gen.Algorithm) bool { return a.Primitive.Name == p.Name }) {
			t.Errorf("no algorithm carries out %s", p.Name)
		}
	}
}

// sound returns an algorithm for the tests to spoil.
func sound() *gen.Algorithm {
	return &gen.Algorithm{
		Name: "sound", Primitive: spec.AllReduce, Doc: "A doc.", Source: "New.", Scratch: two, Chunks: size,
		Body: []gen.Node{
			let("to", up(add(rank, one), size)),
			gen.Step{send(v("to"), block(in)), gen.Recv{From: v("to"), Into: gen.Slot(scratch, zero, rank)},
				gen.Copy{Into: block(out), From: block(in)}},
		},
	}
}

// uneven spoils the algorithm of a primitive with uneven blocks.
func uneven(spoil func(*gen.Algorithm)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		a.Primitive, a.Chunks, a.Body = spec.AllGatherV, spec.Expr{}, inStep(copyTo(gen.Chunk(out, rank)))
		spoil(a)
	}
}

func copyTo(into gen.Region) gen.Node { return gen.Copy{Into: into, From: block(in)} }

func inStep(nodes ...gen.Node) []gen.Node { return []gen.Node{gen.Step(nodes)} }

func TestValidateFindsFaults(t *testing.T) {
	if err := gen.Validate(sound()); err != nil {
		t.Fatal(err)
	}
	body := func(nodes ...gen.Node) func(*gen.Algorithm) { return func(a *gen.Algorithm) { a.Body = nodes } }
	act := func(nodes ...gen.Node) func(*gen.Algorithm) { return body(inStep(nodes...)...) }
	message, copied := send(rank, block(in)), gen.Copy{Into: block(out), From: block(in)}
	for _, tc := range []struct {
		name  string
		spoil func(*gen.Algorithm)
		want  string
		node  int
	}{
		{"name missing", func(a *gen.Algorithm) { a.Name = "" }, "lower-case words", -1},
		{"name not lower-case", func(a *gen.Algorithm) { a.Name = "Ring" }, "lower-case words", -1},
		{"name ends in a hyphen", func(a *gen.Algorithm) { a.Name = "ring-" }, "lower-case words", -1},
		{"primitive missing", func(a *gen.Algorithm) { a.Primitive.Name = "" }, "Primitive is missing", -1},
		{"doc missing", func(a *gen.Algorithm) { a.Doc = "" }, "Doc is missing", -1},
		{"source missing", func(a *gen.Algorithm) { a.Source = "" }, "Source is missing", -1},
		{"a size without a value", func(a *gen.Algorithm) {
			a.Requires.Size = spec.Le(spec.Mod(spec.Sub(size, spec.Int(6)), two), zero)
		}, "Requires.Size has no value for size 1:", -1},
		{"one large size without a value", func(a *gen.Algorithm) {
			a.Requires.Size = spec.Le(spec.Div(size, spec.BitXor(size, spec.Int(70_000))), two)
		}, "Requires.Size has no value for size 70000:", -1},
		{"size depends on rank", func(a *gen.Algorithm) { a.Requires.Size = rank }, "Requires.Size: rank has no meaning", -1},
		{"chunks depend on rank", func(a *gen.Algorithm) { a.Chunks = rank }, "Chunks: rank has no meaning", -1},
		{"scratch by a conditional", func(a *gen.Algorithm) { a.Scratch = up(one, size) }, "Scratch: if", -1},
		{"cost depends on root", func(a *gen.Algorithm) { a.Cost.Beta = root }, "Cost.Beta: root has no meaning", -1},

		{"counts of even blocks", act(send(v("to"), gen.BlockSlot(scratch, zero, one))),
			"has 1 Counts, and the blocks of AllReduce have 0", 0},
		{"uneven blocks in chunks", uneven(func(a *gen.Algorithm) { a.Chunks = size }), "uneven blocks are not cut", -1},
		{"uneven slot of no length", uneven(act(copyTo(gen.Chunk(scratch, zero)))),
			"has 0 Counts, and the blocks of AllGatherV have 1", 0},
		{"uneven slot of two lengths", uneven(act(copyTo(gen.BlockSlot(scratch, zero, one, one)))), "has 2 Counts", 0},
		{"uneven slot like a chunk", uneven(act(copyTo(gen.Slot(scratch, zero, one)))), "needs Counts and no Like", 0},
		{"uneven slot like no block", uneven(act(copyTo(gen.BlockSlot(scratch, zero, v("x"))))),
			"Counts of a place in scratch: x has no meaning", 0},
		{"uneven blocks in one region", uneven(act(copyTo(gen.Span(out, zero, two)))),
			"is a single block, because blocks are uneven", 0},
		{"uneven block like another", uneven(act(copyTo(gen.BlockSlot(out, zero, one)))), "has the length of its own block",
			0},
		{"node missing", body(nil), "a node is missing", -1},
		{"action outside", body(message), "send is outside", 0},
		{"step in step", body(gen.Step{gen.Step{message}}), "is inside another Step", -1},
		{"second action is wrong", act(message, send(v("x"), block(in))), "To: x has no meaning", 1},
		{"name used before", body(gen.Step{send(v("x"), block(in))}, let("x", one)), "To: x has no meaning", 0},
		{"condition of no meaning", body(when(v("x"), inStep(copied), nil)), "x has no meaning", -1},
		{"name of an inner body", body(when(one, []gen.Node{let("x", one)}, nil), let("y", v("x"))), "y: x has no meaning",
			-1},
		{"loop variable after the loop", body(loop("i", one, nil), let("y", v("i"))), "y: i has no meaning", -1},
		{"root without root", act(send(root, block(in))), "To: root has no meaning", 0},
		{"its own name", body(let("x", v("x"))), "x: x has no meaning", -1},
		{"name twice", body(let("x", one), let("x", one)), "the name x is already defined", -1},
		{"name shadowed by a loop", body(let("i", one), loop("i", one, nil)), "the name i is already defined", -1},
		{"name shadowed by a reduction", body(let("i", one), gen.Step{reduce(block(out), "i", two, block(in))}),
			"the name i is already defined", 0},
		{"buffer called as a variable", body(let("x", one), letBuf("x", one, in, out)), "the name x is already defined", -1},
		{"parameter's name", body(let("root", one)), "the name root is already defined", -1},
		{"buffer's name", body(letBuf("in", one, in, out)), "the name in is already defined", -1},
		{"no identifier", body(let("two words", one)), "cannot be the name", -1},
		{"keyword", body(loop("range", one, nil)), "cannot be the name", -1},

		{"fold without numbers", body(fold(nil)), "works out nothing", -1},
		{"step in a fold", body(fold(number("x", one), gen.Step{})), "the one over i has a gen.Step", -1},
		{"action in a fold", body(fold(number("x", one), message)), "the one over i has a gen.Send", -1},
		{"node missing in a fold", body(fold(number("x", one), nil)), "a node is missing", -1},
		{"number twice in a fold", body(fold(append(number("x", one), number("x", two)...))),
			"the name x is already defined", -1},
		{"number shadowed by a turn", body(fold(number("i", one))), "the name i is already defined", -1},
		{"number defined before", body(let("x", one), fold(number("x", one))), "the name x is already defined", -1},
		{"first number of another one", body(fold([]gen.State{number("x", one)[0], {Name: "y", First: v("x"), Next: one}})),
			"y: x has no meaning", -1},
		{"turns of a number", body(gen.Fold{Var: "i", N: v("x"), State: number("x", one)}), "fold over i: x has no meaning",
			-1},
		{"name of a turn after the fold", body(fold(number("x", v("y")), let("y", one)), let("z", v("y"))),
			"z: y has no meaning", -1},
		{"turn after the fold", body(fold(number("x", one)), let("z", v("i"))), "z: i has no meaning", -1},
		{"conditional in a next number", body(fold(number("x", up(one, size)))), "only in a Let of its own", -1},
		{"next number missing", body(fold(number("x", expr{}))), "Next of x is missing", -1},
		{"conditional in a fold's When", body(gen.Fold{Var: "i", N: one, State: number("x", one), When: up(one, size)}),
			"When of the fold over i", -1},

		{"expression missing", body(gen.Let{Name: "x"}), "x is missing", -1},
		{"operand missing", body(let("x", add(one, expr{}))), "x: 1 + none lacks an operand", -1},
		{"no expression", body(let("x", expr{Kind: spec.AddExpr})), "is not an expression", -1},
		{"no kind", body(let("x", expr{Kind: 200})), "is not an expression", -1},
		{"conditional in an action", act(send(up(rank, size), block(in))), "only in a Let of its own", 0},
		{"conditional in a sum", body(let("x", add(one, up(rank, size)))), "only in a Let of its own", -1},
		{"conditional in a condition", body(let("x", cond(up(rank, size), one, two))), "only in a Let of its own", -1},

		{"no such buffer", act(finish(block("data"))), `no buffer "data"`, 0},
		{"scratch not declared", func(a *gen.Algorithm) { a.Scratch = expr{} }, "declares no scratch", 1},
		{"no input", func(a *gen.Algorithm) { a.Primitive.In.Blocks = expr{} }, "has no buffer in", 0},
		{"no op", func(a *gen.Algorithm) { a.Primitive, a.Body = spec.AllGather, inStep(finish(block(out))) },
			"AllGather has no op", 0},
		{"no data", act(gen.Finish{}), `no buffer ""`, 0},
		{"a buffer's place missing", act(send(rank, gen.Region{Buf: in})), "place in in is missing", 0},
		{"place without a buffer", act(send(rank, gen.Region{At: one})), `no buffer ""`, 0},
		{"slot without Like", act(finish(block(scratch))), "needs Like", 0},
		{"named slot without Like", body(letBuf("sum", one, out, scratch), letBuf("acc", one, out, "sum"),
			gen.Step{finish(block("acc"))}), "needs Like", 0},
		{"two slots", act(finish(region(scratch, zero, two, one))), "is a single slot", 0},
		{"Like of a chunk", act(finish(gen.Slot(out, zero, one))), "needs no Like", 0},
		{"buffer as a number", body(letBuf("x", one, in, out), let("y", v("x"))), "y: x has no meaning", -1},

		{"message after a local action", act(copied, message), "after a local action", 1},
		{"message after local actions of both branches", act(when(one, []gen.Node{copied}, []gen.Node{copied}), message),
			"after a local action", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := sound()
			tc.spoil(a)
			err := gen.Validate(a)
			var ne *gen.NodeError
			if !errors.As(err, &ne) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if ne.Node != tc.node {
				t.Errorf("the error is about action %d, want %d", ne.Node, tc.node)
			}
		})
	}
}

// fold returns a Fold over i.
func fold(state []gen.State, body ...gen.Node) gen.Node {
	return gen.Fold{Var: "i", N: two, State: state, Body: body}
}

func number(name string, next expr) []gen.State {
	return []gen.State{{Name: name, First: rank, Next: next}}
}

// TestValidateAllows guards against refusing what may be right.
func TestValidateAllows(t *testing.T) {
	message, copied := send(v("to"), block(in)), gen.Copy{Into: block(out), From: block(in)}
	for name, body := range map[string][]gen.Node{
		"message after a local action of one branch": inStep(when(rank, []gen.Node{copied}, nil), message),
		"message after a local action of a loop":     inStep(loop("i", rank, []gen.Node{copied}), message),
		"local action in an earlier step":            {gen.Step{copied}, gen.Step{message}},
		"a name in two bodies":                       {when(rank, []gen.Node{let("x", one)}, []gen.Node{let("x", two)})},
		"a chain of conditionals":                    {let("x", cond(rank, one, cond(size, two, zero)))},
		"a fold in a step, from a conditional": inStep(gen.Fold{Var: "i", N: rank, State: []gen.State{{Name: "x",
			First: up(rank, size), Next: add(v("x"), v("i"))}}, When: lt(v("i"), v("x"))}, send(v("x"), block(in))),
		"a signal": inStep(gen.Send{To: v("to")}),
	} {
		a := sound()
		a.Body = append([]gen.Node{let("to", one)}, body...)
		if err := gen.Validate(a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
