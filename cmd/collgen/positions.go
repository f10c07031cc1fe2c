package main

import (
	"context"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// find finds out where the algorithms of the catalogue are declared, where the source of package catalogue is at hand.
// It takes a while, and is for errors alone.
func (s *source) find(ctx context.Context) {
	if !s.isBuiltIn || len(s.algorithms) == 0 || s.algorithms[0].at.variable.IsValid() {
		return
	}
	found, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.LoadSyntax, Dir: s.dir, Env: buildEnv()},
		ownPath)
	if err != nil || len(found) != 1 || found[0].Types == nil {
		return
	}
	for _, v := range findVariables(found[0]) {
		name := declaredName(found[0], v.object)
		for _, a := range s.algorithms {
			if v.isAlgorithm && strings.ToLower(a.Primitive.Name)+"/"+a.DeclaredName() == name {
				a.place(v.at)
			}
		}
	}
}

// declaredName returns the full name of the algorithm that v holds, as far as its declaration shows it.
func declaredName(pkg *packages.Package, v types.Object) string {
	var primitive, name string
	for _, f := range pkg.Syntax {
		ast.Inspect(valueOf(f, v, pkg.TypesInfo), func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !isNamed(pkg.TypesInfo.TypeOf(lit), genPath, "Algorithm") {
				return true
			}
			if value := pkg.TypesInfo.Types[field(lit, "Name")].Value; value != nil {
				name = constant.StringVal(value)
			}
			if s, ok := field(lit, "Primitive").(*ast.SelectorExpr); ok {
				primitive = strings.ToLower(s.Sel.Name)
			}
			return false
		})
	}
	return primitive + "/" + name
}

// field returns the value of a field in lit; nil if it is not given.
func field(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if e, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := e.Key.(*ast.Ident); ok && key.Name == name {
				return e.Value
			}
		}
	}
	return nil
}
