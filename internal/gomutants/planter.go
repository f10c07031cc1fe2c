package gomutants

import (
	"fmt"
	"go/ast"
	"go/token"
)

// Planter puts mistakes into code. Its methods return the code that replaces right.
type Planter interface {
	// Expr plants the mistake with that number, an expression.
	Expr(site int, right, wrong ast.Expr) ast.Expr
	// Stmts plants the mistake with that number, a list of statements; an empty list leaves right out.
	Stmts(site int, right ast.Stmt, wrong []ast.Stmt) ast.Stmt
}

// Only plants the mistake with its number and no other. Only(-1) plants none.
type Only int

// Expr returns wrong if the mistake is the one to plant, and right otherwise.
func (o Only) Expr(site int, right, wrong ast.Expr) ast.Expr {
	if site == int(o) {
		return wrong
	}
	return right
}

// Stmts returns wrong as one statement if the mistake is the one to plant, and right otherwise.
func (o Only) Stmts(site int, right ast.Stmt, wrong []ast.Stmt) ast.Stmt {
	switch {
	case site != int(o):
		return right
	case len(wrong) == 1:
		return wrong[0]
	case wrong == nil:
		return &ast.EmptyStmt{Implicit: true}
	}
	return &ast.BlockStmt{List: wrong}
}

// Switches plants all mistakes in one program, which selects one of them while it runs, by a function
//
//	func plant[T any](site int, right, wrong T) T
type Switches struct{}

// Expr returns a call of plant.
func (Switches) Expr(site int, right, wrong ast.Expr) ast.Expr {
	number := &ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(site)}
	return &ast.CallExpr{Fun: ast.NewIdent("plant"), Args: []ast.Expr{number, right, wrong}}
}

// Stmts returns an if statement whose condition is a call of plant.
func (s Switches) Stmts(site int, right ast.Stmt, wrong []ast.Stmt) ast.Stmt {
	either := &ast.IfStmt{Cond: s.Expr(site, ast.NewIdent("true"), ast.NewIdent("false")),
		Body: &ast.BlockStmt{List: []ast.Stmt{right}}}
	if wrong != nil {
		either.Else = &ast.BlockStmt{List: wrong}
	}
	return either
}
