package gomutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// oneMore returns e + 1.
func oneMore(e ast.Expr) ast.Expr {
	return &ast.BinaryExpr{X: e, Op: token.ADD, Y: &ast.BasicLit{Kind: token.INT, Value: "1"}}
}

// expr returns e with mistakes.
func (m *Mutator) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.INT {
			return e
		}
		return m.either(e.Pos(), e.Value+" is one more", e, &ast.ParenExpr{X: oneMore(e)})
	case *ast.Ident:
		return m.ident(e)
	case *ast.ParenExpr:
		return &ast.ParenExpr{X: m.expr(e.X)}
	case *ast.BinaryExpr:
		return m.binary(e)
	case *ast.CallExpr:
		return m.callExpr(e)
	case *ast.UnaryExpr:
		return m.unary(e)
	case *ast.IndexExpr:
		return &ast.IndexExpr{X: e.X, Index: m.expr(e.Index)}
	case *ast.SliceExpr:
		c := *e
		c.X = m.expr(e.X)
		if e.Low != nil {
			c.Low = m.expr(e.Low)
		}
		if e.High != nil {
			c.High = m.expr(e.High)
		}
		return &c
	case *ast.FuncLit:
		m.block(e.Body)
	case *ast.CompositeLit:
		return m.fields(e)
	}
	return e
}

func (m *Mutator) ident(e *ast.Ident) ast.Expr {
	switch {
	case m.kinds[e.Name] == truth:
		return m.either(e.Pos(), e.Name+" is negated", e, &ast.UnaryExpr{Op: token.NOT, X: e})
	case m.kinds[e.Name] == number:
		return m.either(e.Pos(), e.Name+" is one more", e, &ast.ParenExpr{X: oneMore(e)})
	}
	if other := OtherWord[e.Name]; other != "" {
		return m.either(e.Pos(), e.Name+" is "+other, e, ast.NewIdent(other))
	}
	return e
}

func (m *Mutator) binary(e *ast.BinaryExpr) ast.Expr {
	x, y := m.expr(e.X), m.expr(e.Y)
	var right ast.Expr = &ast.BinaryExpr{X: x, Op: e.Op, Y: y}
	if isNil(e.Y) {
		return right
	}
	for _, wrong := range OtherOperators[e.Op] {
		right = m.either(e.Pos(), fmt.Sprintf("%v is %v", e.Op, wrong), right,
			&ast.ParenExpr{X: &ast.BinaryExpr{X: x, Op: wrong, Y: y}})
	}
	return right
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// unary returns -x and !x without the operator, and &x.In with another buffer.
func (m *Mutator) unary(e *ast.UnaryExpr) ast.Expr {
	switch e.Op {
	case token.AND:
		if s, ok := e.X.(*ast.SelectorExpr); ok {
			return m.buffer(s, e)
		}
		return &ast.UnaryExpr{Op: e.Op, X: m.expr(e.X)}
	case token.SUB, token.NOT:
		x := m.expr(e.X)
		return m.either(e.Pos(), e.Op.String()+" is left out", &ast.UnaryExpr{Op: e.Op, X: x}, x)
	}
	return e
}

// buffer returns a pointer to x.In, x.Out or x.Scratch, with mistakes. For other selectors it returns right.
func (m *Mutator) buffer(s *ast.SelectorExpr, right ast.Expr) ast.Expr {
	other := otherBuffer[s.Sel.Name]
	if other == "" {
		return right
	}
	of := func(name string) ast.Expr {
		return &ast.UnaryExpr{Op: token.AND, X: &ast.SelectorExpr{X: s.X, Sel: ast.NewIdent(name)}}
	}
	return m.either(s.Pos(), s.Sel.Name+" is "+other, of(s.Sel.Name), of(other))
}

// callExpr returns a call with mistakes in its function and its arguments. The texts of errors stay as they are.
func (m *Mutator) callExpr(e *ast.CallExpr) ast.Expr {
	if f, ok := e.Fun.(*ast.Ident); ok && f.Name == "refuse" {
		return e
	}
	c := &ast.CallExpr{Fun: e.Fun, Ellipsis: e.Ellipsis}
	for _, a := range e.Args {
		c.Args = append(c.Args, m.expr(a))
	}
	switch f := e.Fun.(type) {
	case *ast.SelectorExpr: // x.Out.Chunk
		if s, ok := f.X.(*ast.SelectorExpr); ok {
			buffer := m.buffer(s, f.X)
			if pointer, ok := buffer.(*ast.UnaryExpr); ok {
				buffer = pointer.X
			}
			c.Fun = &ast.SelectorExpr{X: buffer, Sel: f.Sel}
		}
		if f.Sel.Name == "Slot" || f.Sel.Name == "Span" {
			first := &ast.SelectorExpr{X: f.X, Sel: ast.NewIdent("Chunk")}
			return m.either(e.Pos(), f.Sel.Name+" is Chunk", c, &ast.CallExpr{Fun: first, Args: e.Args[:1]})
		}
	case *ast.Ident:
		if other := OtherWord[f.Name]; other != "" {
			return m.either(e.Pos(), f.Name+" is "+other, c, &ast.CallExpr{Fun: ast.NewIdent(other), Args: c.Args})
		}
	}
	return c
}

// exchanged returns a call with dst and src in the wrong order; nil if it does not have both.
func exchanged(c *ast.CallExpr) *ast.CallExpr {
	for i := range len(c.Args) - 1 {
		x, ok := c.Args[i].(*ast.Ident)
		y, both := c.Args[i+1].(*ast.Ident)
		if ok && both && x.Name == "dst" && y.Name == "src" {
			args := slices.Clone(c.Args)
			args[i], args[i+1] = y, x
			return &ast.CallExpr{Fun: c.Fun, Args: args, Ellipsis: c.Ellipsis}
		}
	}
	return nil
}

// fields returns a literal with mistakes in its fields.
func (m *Mutator) fields(e *ast.CompositeLit) ast.Expr {
	c := &ast.CompositeLit{Type: e.Type}
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = &ast.KeyValueExpr{Key: kv.Key, Value: m.expr(kv.Value)}
		}
		c.Elts = append(c.Elts, x)
	}
	return c
}
