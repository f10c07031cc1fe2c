package readback

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/collgen/collgen/spec"
)

// any reads what a variable is given: a number, a truth value, or a buffer.
func (r *reader) any(e ast.Expr) term {
	t := r.info.TypeOf(e)
	switch p, ok := t.(*types.Pointer); {
	case ok && isNamed(p.Elem(), Runtime, "Buffer"):
		return r.bufferOf(e)
	case isBool(t):
		return r.truthOf(e)
	}
	return r.number(e)
}

func isInt(t types.Type) bool { return isBasic(t, types.Int) }

func isBool(t types.Type) bool {
	return isBasic(t, types.Bool) || isBasic(t, types.UntypedBool)
}

// number reads an expression of type int.
func (r *reader) number(e ast.Expr) term {
	tv := r.info.Types[e]
	if tv.Value != nil { // of any type, as the count of a shift has another one
		r.expect(tv.Value.Kind() == constant.Int, e, "a constant that is no integer")
		_, fits := constant.Int64Val(tv.Value)
		r.expect(fits, e, "a constant that is no int")
	} else {
		r.expect(isInt(r.info.TypeOf(e)), e, "an expression that is no int")
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.number(e.X)
	case *ast.BasicLit:
		n, ok := constant.Int64Val(constant.MakeFromLiteral(e.Value, e.Kind, 0))
		r.expect(ok, e, "a constant that is no int")
		return r.terms.number(int(n))
	case *ast.Ident:
		return r.variable(e)
	case *ast.SelectorExpr:
		return r.parameter(e)
	case *ast.UnaryExpr:
		r.expect(e.Op == token.SUB, e, "the operator "+e.Op.String())
		return r.plus(r.terms.number(0), -1, r.number(e.X))
	case *ast.BinaryExpr:
		return r.arithmetic(e)
	case *ast.CallExpr:
		return r.function(e)
	}
	r.refuse(e, "such an expression")
	return absent
}

func (r *reader) variable(id *ast.Ident) term {
	x, ok := r.vars[r.info.Uses[id]]
	r.expect(ok, id, "the name "+id.Name)
	return x
}

// parameter reads x.Rank and the like.
func (r *reader) parameter(e *ast.SelectorExpr) term {
	r.expect(r.isX(e.X), e, "a field of another thing than the call")
	for _, name := range parameters {
		if e.Sel.Name == strings.ToUpper(name[:1])+name[1:] {
			return r.name(name)
		}
	}
	r.refuse(e, "the field "+e.Sel.Name)
	return absent
}

func (r *reader) arithmetic(e *ast.BinaryExpr) term {
	x, y := r.number(e.X), r.number(e.Y)
	switch e.Op {
	case token.ADD:
		return r.plus(x, 1, y)
	case token.SUB:
		return r.plus(x, -1, y)
	case token.MUL:
		return r.product(x, y)
	case token.QUO, token.REM, token.SHL, token.SHR, token.AND, token.OR, token.XOR:
		return r.operator(e.Op.String(), x, y)
	}
	r.refuse(e, "the operator "+e.Op.String())
	return absent
}

// function reads min and max, bits.Len(uint(x)), int(x), and the reversal of bits.
func (r *reader) function(e *ast.CallExpr) term {
	r.expect(!e.Ellipsis.IsValid() && len(e.Args) > 0, e, "such a call")
	if r.isConversion(e, types.Int) {
		if shifted, ok := e.Args[0].(*ast.BinaryExpr); ok && shifted.Op == token.SHR && isBasic(r.info.TypeOf(shifted),
			types.Uint32) {
			return r.reversal(shifted)
		}
		return r.number(e.Args[0])
	}
	switch f := e.Fun.(type) {
	case *ast.Ident:
		o, ok := r.info.Uses[f].(*types.Builtin)
		r.expect(ok && (o.Name() == "min" || o.Name() == "max"), e, "such a call")
		x := r.number(e.Args[0])
		for _, arg := range e.Args[1:] {
			x = r.operator(o.Name(), x, r.number(arg))
		}
		return x
	case *ast.SelectorExpr:
		o, ok := r.info.Uses[f.Sel].(*types.Func)
		r.expect(ok && o.FullName() == "math/bits.Len", e, "such a call")
		u, ok := e.Args[0].(*ast.CallExpr)
		r.expect(ok && r.isConversion(u, types.Uint), e, "such a call")
		return r.length(r.number(u.Args[0]))
	}
	r.refuse(e, "such a call")
	return absent
}

// reversal reads bits.Reverse32(uint32(x)) >> (32 - k).
func (r *reader) reversal(e *ast.BinaryExpr) term {
	call, ok := e.X.(*ast.CallExpr)
	r.expect(ok && len(call.Args) == 1 && !call.Ellipsis.IsValid(), e, "such a shift")
	f, ok := call.Fun.(*ast.SelectorExpr)
	r.expect(ok, e, "such a shift")
	o, ok := r.info.Uses[f.Sel].(*types.Func)
	r.expect(ok && o.FullName() == "math/bits.Reverse32", e, "such a call")
	u, ok := call.Args[0].(*ast.CallExpr)
	r.expect(ok && r.isConversion(u, types.Uint32), e, "such a call")
	return r.reversed(r.number(u.Args[0]), r.plus(r.terms.number(32), -1, r.number(e.Y)))
}

// isConversion reports whether e is the conversion to a type of one argument.
func (r *reader) isConversion(e *ast.CallExpr, kind types.BasicKind) bool {
	f, ok := e.Fun.(*ast.Ident)
	return ok && len(e.Args) == 1 && r.info.Uses[f] == types.Universe.Lookup(types.Typ[kind].Name())
}

// truthOf reads an expression of type bool.
func (r *reader) truthOf(e ast.Expr) term {
	r.expect(isBool(r.info.TypeOf(e)), e, "an expression that is no bool")
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.truthOf(e.X)
	case *ast.Ident:
		switch r.info.Uses[e] {
		case types.Universe.Lookup("true"):
			return r.truth(true)
		case types.Universe.Lookup("false"):
			return r.truth(false)
		}
		return r.variable(e)
	case *ast.UnaryExpr:
		r.expect(e.Op == token.NOT, e, "the operator "+e.Op.String())
		return r.not(r.truthOf(e.X))
	case *ast.BinaryExpr:
		return r.relation(e)
	}
	r.refuse(e, "such a condition")
	return absent
}

func (r *reader) relation(e *ast.BinaryExpr) term {
	switch e.Op {
	case token.LAND:
		return r.and(r.truthOf(e.X), r.truthOf(e.Y))
	case token.LOR:
		return r.or(r.truthOf(e.X), r.truthOf(e.Y))
	}
	x, y := r.number(e.X), r.number(e.Y)
	switch e.Op {
	case token.EQL:
		return r.equal(x, y)
	case token.NEQ:
		return r.not(r.equal(x, y))
	case token.LSS:
		return r.less(x, y)
	case token.GTR:
		return r.less(y, x)
	case token.LEQ:
		return r.not(r.less(y, x))
	case token.GEQ:
		return r.not(r.less(x, y))
	}
	r.refuse(e, "the operator "+e.Op.String())
	return absent
}

// bufferOf reads &x.Out, and the name of a variable that points to a buffer.
func (r *reader) bufferOf(e ast.Expr) term {
	switch e := e.(type) {
	case *ast.Ident:
		return r.variable(e)
	case *ast.UnaryExpr:
		s, ok := e.X.(*ast.SelectorExpr)
		r.expect(ok && e.Op == token.AND, e, "such a buffer")
		return r.field(s)
	}
	r.refuse(e, "such a buffer")
	return absent
}

// field reads x.Out.
func (r *reader) field(e *ast.SelectorExpr) term {
	names := map[string]spec.Buf{"In": spec.In, "Out": spec.Out, "Scratch": spec.Scratch}
	name, ok := names[e.Sel.Name]
	r.expect(ok && r.isX(e.X), e, "such a buffer")
	return r.buffer(string(name))
}

// place reads x.Out.Chunk(at), and Span and Slot, of x's buffers and of variables that point to them.
func (r *reader) place(e ast.Expr) term {
	call, ok := e.(*ast.CallExpr)
	r.expect(ok && !call.Ellipsis.IsValid(), e, "such a place")
	sel, ok := call.Fun.(*ast.SelectorExpr)
	r.expect(ok, e, "such a place")
	var buf term
	switch of := sel.X.(type) {
	case *ast.SelectorExpr:
		buf = r.field(of)
	default:
		buf = r.bufferOf(of)
	}
	var args []term
	for _, arg := range call.Args {
		args = append(args, r.number(arg))
	}
	one := r.terms.number(1)
	switch {
	case sel.Sel.Name == "Chunk" && len(args) == 1:
		return r.region(buf, args[0], one, absent)
	case sel.Sel.Name == "Span" && len(args) == 2:
		return r.region(buf, args[0], args[1], absent)
	case sel.Sel.Name == "Slot" && len(args) == 2:
		return r.region(buf, args[0], one, args[1])
	}
	r.refuse(e, "such a place")
	return absent
}
