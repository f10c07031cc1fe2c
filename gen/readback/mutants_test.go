package readback

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/gomutants"
	"github.com/collgen/collgen/spec"
)

// mutant returns text with one mistake in the functions of algorithms, or else in the tables, what it is, and how many
// there are.
func mutant(t *testing.T, text []byte, tables bool, site int) (mutated []byte, what string, sites int) {
	t.Helper()
	m := &gomutants.Mutator{Planter: gomutants.Only(site)}
	mutated, err := m.File("z.go", text, func(d ast.Decl) bool {
		fn, isFunction := d.(*ast.FuncDecl)
		return isFunction != tables && (tables || !fn.Name.IsExported())
	})
	if err != nil {
		t.Fatal(err)
	}
	if site < len(m.Sites) && site >= 0 {
		what = m.Sites[site]
	}
	return mutated, what, len(m.Sites)
}

// dividing is an algorithm that means nothing, with the operators that no algorithm of the catalogue has.
func dividing() gen.Algorithm {
	n := spec.Int
	return with(
		gen.Let{Name: "host", Is: spec.Div(spec.Rank, spec.Add(spec.Size, n(2)))},
		gen.Let{Name: "local", Is: spec.Mod(spec.Add(spec.Rank, spec.Var("host")), n(4))},
		gen.Step{gen.Finish{Data: gen.Span(spec.Out, spec.BitOr(spec.Var("local"), spec.Shl(n(1), spec.Var("host"))),
			spec.Div(spec.Size, n(3)))}},
	).Algorithms[0].Algorithm
}

// TestMutants makes mistakes in the text of every function of the catalogue, and of one that divides. Each has to be
// noticed, most of them by what the function does: a reader that refuses everything notices nothing.
func TestMutants(t *testing.T) {
	k := NewChecker(sources(t))
	for _, a := range append(catalogue.Algorithms(), dividing()) {
		c := Collective{Primitive: a.Primitive, Algorithms: []Declared{{printed(a), a.Hash(), provedOf(&a)}}}
		text := file(t, c)
		if err := k.fault(c, text); err != nil {
			t.Fatalf("without a mistake: %v", err)
		}
		same, _, sites := mutant(t, text, false, -1)
		if err := k.fault(c, same); err != nil || sites < 5 {
			t.Fatalf("%d mistakes, and without any of them: %v", sites, err)
		}
		refused, differ := 0, 0
		for site := range sites {
			mutated, what, _ := mutant(t, text, false, site)
			switch err := k.fault(c, mutated); {
			case err == nil:
				t.Errorf("not noticed: %s", what)
			case strings.Contains(err.Error(), errDiffers.Error()):
				differ++
			default:
				refused++
			}
		}
		if t.Logf("%s: of %d mistakes %d are found to do something else, and %d are refused", a.FullName(), sites, differ,
			refused); differ < 4*refused {
			t.Errorf("%s: most are refused", a.FullName())
		}
	}
}

// TestTableMutants makes mistakes in the tables.
func TestTableMutants(t *testing.T) {
	k, made := NewChecker(sources(t)), 0
	for _, p := range spec.Primitives() {
		c := collectiveOf(p)
		text := file(t, c)
		if err := k.fault(c, text); err != nil {
			t.Fatalf("without a mistake: %v", err)
		}
		_, _, sites := mutant(t, text, true, -1)
		for site := range sites {
			mutated, what, _ := mutant(t, text, true, site)
			if made++; k.fault(c, mutated) == nil {
				t.Errorf("not noticed: %s: %s", p.Name, what)
			}
		}
	}
	if t.Logf("%d mistakes", made); made < 1000 {
		t.Errorf("only %d mistakes were made", made)
	}
}
