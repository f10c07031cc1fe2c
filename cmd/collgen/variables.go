package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// The packages whose types are looked for.
const (
	specPath  = "github.com/collgen/collgen/spec"
	genPath   = "github.com/collgen/collgen/gen"
	ownPath   = genPath + "/catalogue"
	wordsPath = genPath + "/words"
)

// variable is a package-level variable that holds a primitive or an algorithm.
type variable struct {
	name        string
	object      types.Object
	isAlgorithm bool
	at          position
}

// findVariables finds the variables of the right types, in the order of their names.
func findVariables(pkg *packages.Package) []variable {
	var found []variable
	scope := pkg.Types.Scope()
	for _, name := range scope.Names() {
		v, ok := scope.Lookup(name).(*types.Var)
		if !ok {
			continue
		}
		isAlgorithm := isNamed(v.Type(), genPath, "Algorithm")
		if isAlgorithm || isNamed(v.Type(), specPath, "Primitive") {
			at := position{variable: relative(pkg.Fset.Position(v.Pos())), actions: literals(pkg, v, isAction)}
			if costs := literals(pkg, v, isCost); len(costs) == 1 {
				at.cost = costs[0]
			}
			found = append(found, variable{name, v, isAlgorithm, at})
		}
	}
	return found
}

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path && n.Obj().Name() == name
}

// relative returns p with the name of its file as seen from here.
func relative(p token.Position) token.Position {
	p.Filename = relativeName(p.Filename)
	return p
}

// literals returns the positions of the values of certain types that are made in the value of v, in source order: of
// composite literals, and of calls of package words.
func literals(pkg *packages.Package, v types.Object, isWanted func(types.Type) bool) []token.Position {
	var found []token.Position
	for _, f := range pkg.Syntax {
		ast.Inspect(valueOf(f, v, pkg.TypesInfo), func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && isMade(x, pkg.TypesInfo) && isWanted(pkg.TypesInfo.TypeOf(x)) {
				found = append(found, relative(pkg.Fset.Position(x.Pos())))
			}
			return true
		})
	}
	return found
}

// isMade reports whether x is a composite literal or a call of package words.
func isMade(x ast.Expr, info *types.Info) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		f := typeutil.StaticCallee(info, x)
		return f != nil && f.Pkg() != nil && f.Pkg().Path() == wordsPath
	}
	return false
}

func isCost(t types.Type) bool { return t != nil && isNamed(t, genPath, "Cost") }

func isAction(t types.Type) bool {
	return t != nil && slices.ContainsFunc([]string{"Send", "Recv", "RecvReduce", "Copy", "Reduce", "Finish"},
		func(name string) bool { return isNamed(t, genPath, name) })
}

// valueOf returns the expression that initializes v in f; nothing if there is none of its own.
func valueOf(f *ast.File, v types.Object, info *types.Info) ast.Node {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.ValueSpec)
			for i, name := range s.Names {
				if info.Defs[name] == v && i < len(s.Values) {
					return s.Values[i]
				}
			}
		}
	}
	return &ast.BadExpr{}
}
