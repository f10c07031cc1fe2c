package gomutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// table makes mistakes in the literals of a table's value. Literals without a type cannot be arguments of a function,
// as Switches would have it.
func (m *Mutator) table(v *ast.ValueSpec) {
	m.name = v.Names[0].Name
	ast.Inspect(v.Values[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			m.elements(n)
		case *ast.KeyValueExpr:
			m.field(n)
		}
		return true
	})
}

// elements leaves each element of a literal out, and exchanges neighbours.
func (m *Mutator) elements(c *ast.CompositeLit) {
	isLiteral := func(e ast.Expr) bool { _, ok := e.(*ast.CompositeLit); return ok }
	all := c.Elts
	plant := func(what string, wrong []ast.Expr) {
		c.Elts = m.either(c.Pos(), what, c, &ast.CompositeLit{Elts: wrong}).(*ast.CompositeLit).Elts
	}
	for i := range all {
		plant(fmt.Sprintf("element %d of %d is left out", i, len(all)), slices.Delete(slices.Clone(all), i, i+1))
		if i > 0 && isLiteral(all[i]) && isLiteral(all[i-1]) {
			exchanged := slices.Clone(all)
			exchanged[i], exchanged[i-1] = all[i-1], all[i]
			plant(fmt.Sprintf("elements %d and %d are exchanged", i-1, i), exchanged)
		}
	}
}

// field makes mistakes in the value of a field.
func (m *Mutator) field(x *ast.KeyValueExpr) {
	name := x.Key.(*ast.Ident).Name
	plant := func(wrong ast.Expr, text string) { x.Value = m.either(x.Pos(), name+" is "+text, x.Value, wrong) }
	switch v := x.Value.(type) {
	case *ast.BasicLit:
		if v.Kind == token.INT {
			plant(oneMore(v), v.Value+"+1")
		} else {
			plant(&ast.BasicLit{Kind: v.Kind, Value: `"ring2"`}, `"ring2"`)
		}
	case *ast.Ident:
		if v.Name == "true" {
			plant(ast.NewIdent(OtherWord[v.Name]), OtherWord[v.Name])
		}
		for _, other := range otherField[name] {
			if other != v.Name {
				plant(ast.NewIdent(other), other)
			}
		}
	case *ast.SelectorExpr:
		for _, other := range otherField[name] {
			if other != v.Sel.Name {
				plant(&ast.SelectorExpr{X: v.X, Sel: ast.NewIdent(other)}, other)
			}
		}
	}
}
