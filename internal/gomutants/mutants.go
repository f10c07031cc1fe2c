// Package gomutants makes mistakes in generated Go, one at each place where there is something to get wrong, for tests
// that have to find each of them.
package gomutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Planter puts mistakes into code. What it returns takes the place of right.
type Planter interface {
	// Expr plants the mistake of that number, an expression.
	Expr(site int, right, wrong ast.Expr) ast.Expr
	// Stmts plants the mistake of that number, statements; without any, right is left out.
	Stmts(site int, right ast.Stmt, wrong []ast.Stmt) ast.Stmt
}

// Mutator makes mistakes in functions and tables, one after the other. It changes their syntax.
type Mutator struct {
	Files *token.FileSet
	Lines []string // of the file
	Sites []string // what each mistake is, and where: "zreduce.go:120 reduceChain: - is +: …"
	Planter

	name  string // of the declaration
	kinds map[string]kind
}

// kind is what is known of a local variable; of others nothing.
type kind int

const (
	unknown kind = iota
	number
	truth
)

// site notes one more mistake.
func (m *Mutator) site(at token.Pos, what string) int {
	p := m.Files.Position(at)
	m.Sites = append(m.Sites, fmt.Sprintf("%s:%d %s: %s: %s", filepath.Base(p.Filename), p.Line, m.name, what, strings.TrimSpace(m.Lines[p.Line-1])))
	return len(m.Sites) - 1
}

func (m *Mutator) either(at token.Pos, what string, right, wrong ast.Expr) ast.Expr {
	return m.Expr(m.site(at, what), right, wrong)
}

// unless leaves a statement out, or has others in its place.
func (m *Mutator) unless(s ast.Stmt, what string, wrong ...ast.Stmt) ast.Stmt {
	return m.Stmts(m.site(s.Pos(), what), s, wrong)
}

// Function makes mistakes in the body of a function.
func (m *Mutator) Function(fn *ast.FuncDecl) {
	m.name, m.kinds = fn.Name.Name, map[string]kind{}
	for _, p := range fn.Type.Params.List {
		for _, name := range p.Names {
			if t, ok := p.Type.(*ast.Ident); ok && t.Name == "int" {
				m.kinds[name.Name] = number
			}
		}
	}
	m.block(fn.Body)
}

// block makes mistakes in all statements of b.
func (m *Mutator) block(b *ast.BlockStmt) {
	for i, s := range b.List {
		b.List[i] = m.stmt(s)
	}
}

// stmt returns s with mistakes.
func (m *Mutator) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return m.call(s)
	case *ast.AssignStmt:
		return m.assign(s)
	case *ast.DeclStmt:
		for _, v := range s.Decl.(*ast.GenDecl).Specs {
			m.note(v.(*ast.ValueSpec).Names[0], v.(*ast.ValueSpec).Type)
		}
	case *ast.BranchStmt:
		return m.unless(s, "continue is left out")
	case *ast.RangeStmt:
		s.X = m.expr(s.X)
		if id, ok := s.Key.(*ast.Ident); ok {
			m.kinds[id.Name] = number
		}
		m.block(s.Body)
	case *ast.BlockStmt:
		m.block(s)
	case *ast.IfStmt:
		return m.condition(s)
	case *ast.ReturnStmt:
		return m.result(s)
	}
	return s
}

// call may be left out, be one of another method, or have two arguments exchanged.
func (m *Mutator) call(s *ast.ExprStmt) ast.Stmt {
	c := s.X.(*ast.CallExpr)
	var wrong []*ast.CallExpr
	var what []string
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if other := otherMethod[sel.Sel.Name]; ok && other != "" {
		wrong = append(wrong, &ast.CallExpr{Fun: &ast.SelectorExpr{X: sel.X, Sel: ast.NewIdent(other)}, Args: c.Args})
		what = append(what, sel.Sel.Name+" is "+other)
	}
	if n := len(c.Args); ok && n >= 2 && (sel.Sel.Name == "RecvReduce" || sel.Sel.Name == "Copy" || sel.Sel.Name == "Refer") {
		args := slices.Clone(c.Args)
		i := 0
		if sel.Sel.Name == "RecvReduce" {
			i = 1
		}
		args[i], args[i+1] = args[i+1], args[i]
		wrong, what = append(wrong, &ast.CallExpr{Fun: c.Fun, Args: args}), append(what, "two arguments are exchanged")
	}
	right := ast.Stmt(&ast.ExprStmt{X: m.expr(c)})
	for i, w := range wrong {
		right = m.Stmts(m.site(s.Pos(), what[i]), right, []ast.Stmt{&ast.ExprStmt{X: w}})
	}
	return m.Stmts(m.site(s.Pos(), "a call is left out"), right, nil)
}

// otherMethod is what may be mistaken for a method of the runtime.
var otherMethod = map[string]string{"Recv": "Borrow", "Borrow": "Recv", "Copy": "Refer", "Refer": "Copy", "Signal": "Await", "Await": "Signal"}

func (m *Mutator) assign(s *ast.AssignStmt) ast.Stmt {
	for i, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && len(s.Lhs) == len(s.Rhs) {
			m.note(id, s.Rhs[i])
		}
	}
	for i := range s.Rhs {
		s.Rhs[i] = m.expr(s.Rhs[i])
	}
	if s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN {
		s.Rhs[0] = m.either(s.Pos(), fmt.Sprintf("%v adds the opposite", s.Tok), s.Rhs[0], &ast.UnaryExpr{Op: token.SUB, X: &ast.ParenExpr{X: s.Rhs[0]}})
	}
	if s.Tok != token.DEFINE {
		return m.unless(s, "an assignment is left out")
	}
	return s
}

// note notes what kind of variable id is by its type or first value.
func (m *Mutator) note(id *ast.Ident, e ast.Expr) {
	m.kinds[id.Name] = m.kindOf(e)
}

func (m *Mutator) kindOf(e ast.Expr) kind {
	switch e := e.(type) {
	case *ast.BasicLit:
		return number
	case *ast.Ident:
		switch e.Name {
		case "int":
			return number
		case "bool", "true", "false":
			return truth
		}
		return m.kinds[e.Name]
	case *ast.ParenExpr:
		return m.kindOf(e.X)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return truth
		case token.SUB:
			return number
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return truth
		}
		return number
	case *ast.CallExpr: // min, max, bits.Len, c.Rank()
		return number
	case *ast.SelectorExpr: // x.Rank
		return number
	}
	return unknown
}

// condition may be of a call's error, which then is dropped, or the call left out.
func (m *Mutator) condition(s *ast.IfStmt) ast.Stmt {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok {
		s.Cond = m.expr(s.Cond)
		m.block(s.Body)
		if s.Else != nil {
			s.Else = m.stmt(s.Else)
		}
		return s
	}
	call := init.Rhs[0].(*ast.CallExpr)
	init.Rhs[0] = m.expr(call)
	dropped := &ast.ExprStmt{X: init.Rhs[0]}
	name := call.Fun.(*ast.SelectorExpr).Sel.Name
	right := m.Stmts(m.site(s.Pos(), "the error of "+name+" is dropped"), s, []ast.Stmt{dropped})
	if name != "Exchange" { // without Layout nothing can go on
		return right
	}
	return m.Stmts(m.site(s.Pos(), "an Exchange is left out"), right, nil)
}

// result returns a return with mistakes in its call. Of an Exchange, the error may be dropped, or all of it left out.
func (m *Mutator) result(s *ast.ReturnStmt) ast.Stmt {
	if len(s.Results) != 1 {
		return s
	}
	c, ok := s.Results[0].(*ast.CallExpr)
	if !ok {
		return s
	}
	success := &ast.ReturnStmt{Results: []ast.Expr{ast.NewIdent("nil")}}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Exchange" {
		right := m.Stmts(m.site(s.Pos(), "the error of Exchange is dropped"), s, []ast.Stmt{&ast.ExprStmt{X: c}, success})
		return m.Stmts(m.site(s.Pos(), "an Exchange is left out"), right, []ast.Stmt{success})
	}
	wrong := exchanged(c)
	s.Results[0] = m.expr(c)
	if wrong == nil {
		return s
	}
	return m.unless(s, "dst and src are exchanged", &ast.ReturnStmt{Results: []ast.Expr{wrong}})
}

// Text returns the source of a node.
func (m *Mutator) Text(n ast.Node) string {
	var b bytes.Buffer
	_ = format.Node(&b, m.Files, n)
	return b.String()
}
