// Package gomutants plants mistakes in Go code, for tests that have to find each of them. Its tables list what may be
// mistaken for what. A Mutator plants mistakes in generated code.
package gomutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// Mutator makes mistakes in functions and tables, and numbers them from 0. It changes their syntax trees.
type Mutator struct {
	Sites []string // what each mistake is, and where: "zreduce.go:120 reduceChain: - is +: …"
	Planter

	files *token.FileSet
	lines []string // of the file
	name  string   // of the declaration
	kinds map[string]kind
}

// File returns the source of a file with mistakes in the selected declarations: functions and, if the Planter is an
// Only, tables.
func (m *Mutator) File(path string, source []byte, selected func(ast.Decl) bool) ([]byte, error) {
	m.files, m.lines = token.NewFileSet(), strings.Split(string(source), "\n")
	f, err := parser.ParseFile(m.files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	done := 0 // bytes of source
	for _, d := range f.Decls {
		if !selected(d) {
			continue
		}
		from, to := m.files.Position(d.Pos()).Offset, m.files.Position(d.End()).Offset
		switch d := d.(type) {
		case *ast.FuncDecl:
			m.function(d)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				m.table(d.Specs[0].(*ast.ValueSpec))
			}
		}
		b.Write(source[done:from])
		if err := format.Node(&b, m.files, d); err != nil {
			return nil, err
		}
		done = to
	}
	b.Write(source[done:])
	return b.Bytes(), nil
}

// kind is the kind of a local variable, as far as its declaration shows it.
type kind int

const (
	unknown kind = iota
	number
	truth
)

// site notes one more mistake and returns its number.
func (m *Mutator) site(at token.Pos, what string) int {
	p := m.files.Position(at)
	m.Sites = append(m.Sites, fmt.Sprintf("%s:%d %s: %s: %s", filepath.Base(p.Filename), p.Line, m.name, what,
		strings.TrimSpace(m.lines[p.Line-1])))
	return len(m.Sites) - 1
}

// either returns right or wrong, as the Planter decides.
func (m *Mutator) either(at token.Pos, what string, right, wrong ast.Expr) ast.Expr {
	return m.Expr(m.site(at, what), right, wrong)
}

// unless returns s, or instead of it the wrong statements; without any, s is left out.
func (m *Mutator) unless(s ast.Stmt, what string, wrong ...ast.Stmt) ast.Stmt {
	return m.Stmts(m.site(s.Pos(), what), s, wrong)
}

// function makes mistakes in the body of a function.
func (m *Mutator) function(fn *ast.FuncDecl) {
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

// call returns a call with mistakes: left out, of another method, or with two arguments exchanged.
func (m *Mutator) call(s *ast.ExprStmt) ast.Stmt {
	c := s.X.(*ast.CallExpr)
	var wrong []*ast.CallExpr
	var what []string
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if other := otherMethod[sel.Sel.Name]; ok && other != "" {
		wrong = append(wrong, &ast.CallExpr{Fun: &ast.SelectorExpr{X: sel.X, Sel: ast.NewIdent(other)}, Args: c.Args})
		what = append(what, sel.Sel.Name+" is "+other)
	}
	if n := len(c.Args); ok && n >= 2 && (sel.Sel.Name == "RecvReduce" || sel.Sel.Name == "Copy" ||
		sel.Sel.Name == "Refer") {
		args := slices.Clone(c.Args)
		i := 0
		if sel.Sel.Name == "RecvReduce" {
			i = 1
		}
		if args[i], args[i+1] = args[i+1], args[i]; types.ExprString(args[i]) != types.ExprString(args[i+1]) {
			wrong, what = append(wrong, &ast.CallExpr{Fun: c.Fun, Args: args}), append(what, "two arguments are exchanged")
		}
	}
	right := ast.Stmt(&ast.ExprStmt{X: m.expr(c)})
	for i, w := range wrong {
		right = m.Stmts(m.site(s.Pos(), what[i]), right, []ast.Stmt{&ast.ExprStmt{X: w}})
	}
	return m.Stmts(m.site(s.Pos(), "a call is left out"), right, nil)
}

func (m *Mutator) assign(s *ast.AssignStmt) ast.Stmt {
	for i, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && len(s.Lhs) == len(s.Rhs) {
			m.note(id, s.Rhs[i])
		}
	}
	for i := range s.Rhs {
		s.Rhs[i] = m.expr(s.Rhs[i])
	}
	if s.Tok == token.DEFINE {
		return s
	}
	right := ast.Stmt(s)
	for _, wrong := range OtherOperators[s.Tok] {
		right = m.Stmts(m.site(s.Pos(), fmt.Sprintf("%v is %v", s.Tok, wrong)), right,
			[]ast.Stmt{&ast.AssignStmt{Lhs: s.Lhs, Tok: wrong, Rhs: s.Rhs}})
	}
	return m.Stmts(m.site(s.Pos(), "an assignment is left out"), right, nil)
}

// note records the kind of variable id, given its type or first value.
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

// condition returns an if statement with mistakes. If it checks the error of a call, that is dropped, or the call left
// out.
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

// result returns a return statement with mistakes in its call. The error of an Exchange is dropped, or all of it left
// out.
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
