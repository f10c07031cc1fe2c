package readback

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/gomutants"
	"github.com/collgen/collgen/spec"
)

// single plants the mistake of one number.
type single int

func (s single) Expr(site int, right, wrong ast.Expr) ast.Expr {
	if site == int(s) {
		return wrong
	}
	return right
}

func (s single) Stmts(site int, right ast.Stmt, wrong []ast.Stmt) ast.Stmt {
	switch {
	case site != int(s):
		return right
	case len(wrong) == 1:
		return wrong[0]
	case wrong == nil:
		return &ast.EmptyStmt{Implicit: true}
	}
	return &ast.BlockStmt{List: wrong}
}

// mutant returns text with one mistake in the functions of algorithms, what it is, and how many there are.
func mutant(t *testing.T, text []byte, site int) (mutated []byte, what string, sites int) {
	m := &gomutants.Mutator{Files: token.NewFileSet(), Lines: strings.Split(string(text), "\n"), Planter: single(site)}
	f, err := parser.ParseFile(m.Files, "z.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && !fn.Name.IsExported() {
			m.Function(fn)
		}
	}
	if site < len(m.Sites) && site >= 0 {
		what = m.Sites[site]
	}
	return []byte(m.Text(f)), what, len(m.Sites)
}

// TestMutants makes mistakes in the text of every function of the catalogue. Each has to be noticed, most of them by
// what the function does: a reader that refuses everything notices nothing.
func TestMutants(t *testing.T) {
	k := NewChecker(sources(t))
	for _, a := range catalogue.Algorithms() {
		c := Collective{Primitive: a.Primitive, Algorithms: []Declared{{printed(a), a.Hash(), provedOf(&a)}}}
		text := file(t, c)
		if err := k.fault(c, text); err != nil {
			t.Fatalf("without a mistake: %v", err)
		}
		same, _, sites := mutant(t, text, -1)
		if err := k.fault(c, same); err != nil || sites < 5 {
			t.Fatalf("%d mistakes, and without any of them: %v", sites, err)
		}
		refused, differ := 0, 0
		for site := range sites {
			mutated, what, _ := mutant(t, text, site)
			switch err := k.fault(c, mutated); {
			case err == nil:
				t.Errorf("not noticed: %s", what)
			case strings.Contains(err.Error(), errDiffers.Error()):
				differ++
			default:
				refused++
			}
		}
		if t.Logf("%s: of %d mistakes %d are found to do something else, and %d are refused", a.FullName(), sites, differ, refused); differ < 4*refused {
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
		for site := 0; ; site++ {
			mutated, what := tableMutant(t, text, site)
			if what == "" {
				break
			}
			if made++; k.fault(c, mutated) == nil {
				t.Errorf("not noticed: %s: %s", p.Name, what)
			}
		}
	}
	if t.Logf("%d mistakes", made); made < 500 {
		t.Errorf("only %d mistakes were made", made)
	}
}

// tableMutant returns text with the mistake of that number in its table; what is empty if there are fewer.
func tableMutant(t *testing.T, text []byte, site int) (mutated []byte, what string) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "z.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	plant := func(words string, mistake func()) {
		if n == site {
			what = words
			mistake()
		}
		n++
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			ast.Inspect(g.Specs[0].(*ast.ValueSpec).Values[0], func(x ast.Node) bool {
				mistakes(x, plant)
				return what == ""
			})
		}
	}
	var b strings.Builder
	if err := format.Node(&b, set, f); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String()), what
}

// mistakes makes those that a node of a table can have.
func mistakes(x ast.Node, plant func(words string, mistake func())) {
	switch x := x.(type) {
	case *ast.CompositeLit:
		all := x.Elts
		for i := range all {
			plant(fmt.Sprintf("element %d of %d is left out", i, len(all)), func() { x.Elts = slices.Delete(slices.Clone(all), i, i+1) })
			if i > 0 && isLiteral(all[i]) && isLiteral(all[i-1]) {
				plant(fmt.Sprintf("elements %d and %d are exchanged", i-1, i), func() { all[i], all[i-1] = all[i-1], all[i] })
			}
		}
	case *ast.KeyValueExpr:
		value(x, plant)
	}
}

func isLiteral(e ast.Expr) bool { _, ok := e.(*ast.CompositeLit); return ok }

// value makes a mistake in a field.
func value(x *ast.KeyValueExpr, plant func(words string, mistake func())) {
	name := x.Key.(*ast.Ident).Name
	switch v := x.Value.(type) {
	case *ast.BasicLit:
		wrong := `"ring2"`
		if v.Kind == token.INT {
			wrong = "(" + v.Value + ")+1"
		}
		plant(name+" is "+wrong, func() { x.Value = &ast.BasicLit{Kind: v.Kind, Value: wrong} })
	case *ast.Ident:
		switch {
		case v.Name == "true":
			plant(name+" is false", func() { x.Value = ast.NewIdent("false") })
		case name == "Run":
			for _, other := range []string{"allReduceRing", "allReduceTree", "broadcastLinear", "broadcastChain"} {
				if other != v.Name {
					plant("Run is "+other, func() { x.Value = ast.NewIdent(other) })
				}
			}
		}
	case *ast.SelectorExpr:
		for _, needs := range []string{"AllNeedAll", "AllNeedRoot", "RootNeedsAll", "NeedsUnknown"} {
			if name == "Needs" && needs != v.Sel.Name {
				plant("Needs is "+needs, func() { v.Sel = ast.NewIdent(needs) })
			}
		}
	}
}
