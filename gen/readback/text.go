package readback

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// methods are the runtime's that generated code calls in statements of their own, and what their arguments are: n a
// number, t a truth value, p a place.
var methods = map[string]string{
	"Send": "np", "Recv": "np", "RecvReduce": "nppt", "Borrow": "np", "AfterSend": "", "Signal": "n", "Await": "n",
	"Copy": "pp", "Refer": "pp", "Operand": "p", "Reduce": "p", "Finish": "p",
}

// signature reads func name(ctx context.Context, x *Call) error.
func (r *reader) signature(fn *ast.FuncDecl) {
	f, ok := r.info.Defs[fn.Name].(*types.Func)
	r.expect(ok && fn.Recv == nil && fn.Body != nil, fn, "a declaration that is no function")
	s := f.Signature()
	r.expect(s.TypeParams() == nil && s.Params().Len() == 2 && s.Results().Len() == 1 && !s.Variadic(), fn,
		"a function of such parameters")
	r.ctx, r.x = s.Params().At(0), s.Params().At(1)
	pointer, ok := r.x.Type().(*types.Pointer)
	r.expect(ok && isNamed(pointer.Elem(), Runtime, "Call") && isNamed(r.ctx.Type(), "context", "Context") &&
		types.Identical(s.Results().At(0).Type(), types.Universe.Lookup("error").Type()), fn, "a function of such parameters")
}

// end reads the last statement: return nil, or return x.Exchange(ctx).
func (r *reader) end(s ast.Stmt) []item {
	ret, ok := s.(*ast.ReturnStmt)
	r.expect(ok && len(ret.Results) == 1, s, "a function that ends so")
	if r.isNil(ret.Results[0]) {
		return nil
	}
	name, args := r.method(ret.Results[0])
	r.expect(name == exchange, ret, "such a result")
	return []item{r.checked(name, args, ret)}
}

func (r *reader) isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && r.info.Uses[id] == types.Universe.Lookup("nil")
}

// method returns a call of a method of x.
func (r *reader) method(e ast.Expr) (name string, args []ast.Expr) {
	call, ok := e.(*ast.CallExpr)
	r.expect(ok && !call.Ellipsis.IsValid(), e, "an expression that is no call")
	sel, ok := call.Fun.(*ast.SelectorExpr)
	r.expect(ok && r.isX(sel.X), e, "a call of another thing than the runtime")
	return sel.Sel.Name, call.Args
}

// checked returns a call whose error ends the function.
func (r *reader) checked(name string, args []ast.Expr, at ast.Node) item {
	switch {
	case name == exchange && len(args) == 1:
		id, ok := args[0].(*ast.Ident)
		r.expect(ok && r.info.Uses[id] == r.ctx, at, "an Exchange with another context")
		return item{call: exchange}
	case name == "Layout" && len(args) == 2 && r.loops == 0:
		return item{call: name, args: []term{r.number(args[0]), r.number(args[1])}}
	}
	r.refuse(at, "the call "+name)
	return item{}
}

// block reads the statements of a block. In the body of a loop they may go on early.
func (r *reader) block(list []ast.Stmt, inLoop bool) []item {
	var items []item
	local := map[types.Object]bool{} // declared in this block: what may be assigned in it
	for i, s := range list {
		if f, ok := s.(*ast.IfStmt); ok && inLoop && isContinue(f.Body) {
			r.expect(f.Init == nil && f.Else == nil, s, "a condition of such a form")
			rest := r.block(list[i+1:], true)
			return append(items, item{call: branch, args: []term{r.not(r.truthOf(f.Cond))}, body: rest})
		}
		items = append(items, r.statement(s, local)...)
	}
	return items
}

func isContinue(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.BranchStmt)
	return ok && s.Tok == token.CONTINUE && s.Label == nil
}

func (r *reader) statement(s ast.Stmt, local map[types.Object]bool) []item {
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.declare(s, local)
		return nil
	case *ast.DeclStmt:
		r.zero(s, local)
		return nil
	case *ast.IfStmt:
		return r.conditional(s, local)
	case *ast.RangeStmt:
		if next := nextOf(s); next != nil {
			r.fold(s, next, local)
			return nil
		}
		return []item{r.loop(s)}
	case *ast.BlockStmt:
		return r.block(s.List, false)
	case *ast.ExprStmt:
		return []item{r.call(s)}
	}
	r.refuse(s, "such a statement")
	return nil
}

// declare reads a, b := 1, 2.
func (r *reader) declare(s *ast.AssignStmt, local map[types.Object]bool) {
	r.expect(s.Tok == token.DEFINE && len(s.Lhs) == len(s.Rhs), s, "such an assignment")
	var values []term
	for _, e := range s.Rhs {
		values = append(values, r.any(e))
	}
	for i, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		r.expect(ok && r.info.Defs[id] != nil, e, "a declaration of what is declared already")
		r.vars[r.info.Defs[id]], local[r.info.Defs[id]] = values[i], true
	}
}

// zero reads var a int and var a bool.
func (r *reader) zero(s *ast.DeclStmt, local map[types.Object]bool) {
	d, ok := s.Decl.(*ast.GenDecl)
	r.expect(ok && d.Tok == token.VAR && len(d.Specs) == 1, s, "such a declaration")
	v := d.Specs[0].(*ast.ValueSpec)
	r.expect(len(v.Names) == 1 && v.Values == nil, s, "such a declaration")
	o := r.info.Defs[v.Names[0]]
	r.expect(o != nil, s, "such a declaration")
	switch {
	case isBasic(o.Type(), types.Int):
		r.vars[o] = r.terms.number(0)
	case isBasic(o.Type(), types.Bool):
		r.vars[o] = r.truth(false)
	default:
		r.refuse(s, "a variable of such a type")
	}
	local[o] = true
}

// conditional reads an if: of a call's error, of what a variable is set to, or of calls.
func (r *reader) conditional(s *ast.IfStmt, local map[types.Object]bool) []item {
	if s.Init != nil {
		return []item{r.orReturn(s)}
	}
	if o := r.assigned(s.Body); o != nil {
		r.expect(local[o], s, "an assignment to a variable of another block")
		r.vars[o] = r.chosen(s, o)
		return nil
	}
	x := item{call: branch, args: []term{r.truthOf(s.Cond)}, body: r.block(s.Body.List, false)}
	switch e := s.Else.(type) {
	case nil:
	case *ast.BlockStmt:
		x.otherwise = r.block(e.List, false)
	case *ast.IfStmt:
		r.expect(e.Init == nil, e, "a condition of such a form")
		x.otherwise = r.conditional(e, map[types.Object]bool{})
	}
	return []item{x}
}

// orReturn reads if err := x.Exchange(ctx); err != nil { return err }, and the same of Layout.
func (r *reader) orReturn(s *ast.IfStmt) item {
	init, ok := s.Init.(*ast.AssignStmt)
	r.expect(ok && init.Tok == token.DEFINE && len(init.Lhs) == 1 && len(init.Rhs) == 1 && s.Else == nil, s,
		"a condition of such a form")
	id, ok := init.Lhs[0].(*ast.Ident)
	r.expect(ok && r.info.Defs[id] != nil, s, "a condition of such a form")
	isErr := func(e ast.Expr) bool {
		use, ok := e.(*ast.Ident)
		return ok && r.info.Uses[use] == r.info.Defs[id]
	}
	cond, ok := s.Cond.(*ast.BinaryExpr)
	r.expect(ok && cond.Op == token.NEQ && isErr(cond.X) && r.isNil(cond.Y), s, "a call whose error is not looked at")
	r.expect(len(s.Body.List) == 1, s, "a call whose error is not returned")
	ret, ok := s.Body.List[0].(*ast.ReturnStmt)
	r.expect(ok && len(ret.Results) == 1 && isErr(ret.Results[0]), s, "a call whose error is not returned")
	name, args := r.method(init.Rhs[0])
	return r.checked(name, args, s)
}

// assigned returns the variable that a block sets, if it does nothing else; nil if it does not.
func (r *reader) assigned(b *ast.BlockStmt) types.Object {
	if len(b.List) != 1 {
		return nil
	}
	s, ok := b.List[0].(*ast.AssignStmt)
	if !ok || s.Tok == token.DEFINE || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return nil
	}
	id, ok := s.Lhs[0].(*ast.Ident)
	if !ok {
		return nil
	}
	return r.info.Uses[id]
}

// chosen returns the value of o after an if whose ways all set it.
func (r *reader) chosen(s *ast.IfStmt, o types.Object) term {
	r.expect(s.Init == nil && r.assigned(s.Body) == o, s, "a condition of such a form")
	c, is := r.truthOf(s.Cond), r.newValue(s.Body, o)
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		r.expect(r.assigned(e) == o, e, "a condition of such a form")
		return r.choice(c, is, r.newValue(e, o))
	case *ast.IfStmt:
		return r.choice(c, is, r.chosen(e, o))
	}
	return r.choice(c, is, r.vars[o])
}

// newValue returns what the assignment in b sets o to.
func (r *reader) newValue(b *ast.BlockStmt, o types.Object) term {
	s := b.List[0].(*ast.AssignStmt)
	if s.Tok == token.ASSIGN {
		return r.any(s.Rhs[0])
	}
	return r.changed(s, o)
}

// changed returns what o is after o += x or o -= x.
func (r *reader) changed(s *ast.AssignStmt, o types.Object) term {
	switch s.Tok {
	case token.ADD_ASSIGN:
		return r.plus(r.vars[o], 1, r.number(s.Rhs[0]))
	case token.SUB_ASSIGN:
		return r.plus(r.vars[o], -1, r.number(s.Rhs[0]))
	}
	r.refuse(s, "such an assignment")
	return absent
}

// loop reads for i := range n, and for range n.
func (r *reader) loop(s *ast.RangeStmt) item {
	x := item{call: loop, args: []term{r.turns(s)}}
	r.loops++
	x.body = r.block(s.Body.List, true)
	r.loops--
	return x
}

// turns reads the head of a loop: it declares the turn and returns how many there are.
func (r *reader) turns(s *ast.RangeStmt) term {
	r.expect(s.Value == nil && isInt(r.info.TypeOf(s.X)), s, "a loop of such a form")
	n := r.number(s.X)
	if s.Key != nil {
		id, ok := s.Key.(*ast.Ident)
		r.expect(ok && s.Tok == token.DEFINE && r.info.Defs[id] != nil && isInt(r.info.Defs[id].Type()), s,
			"a loop of such a form")
		r.vars[r.info.Defs[id]] = turn(r.terms, r.loops)
	}
	return n
}

// call reads a statement that calls the runtime.
func (r *reader) call(s *ast.ExprStmt) item {
	name, args := r.method(s.X)
	kinds, ok := methods[name]
	r.expect(ok && len(args) == len(kinds), s, "the call "+name)
	x := item{call: name}
	for i, arg := range args {
		switch kinds[i] {
		case 'n':
			x.args = append(x.args, r.number(arg))
		case 't':
			x.args = append(x.args, r.truthOf(arg))
		case 'p':
			x.args = append(x.args, r.place(arg))
		}
	}
	return x
}

// read returns what a generated function has ranks do.
func read(t *terms, set *token.FileSet, info *types.Info, fn *ast.FuncDecl) (lines []line, err error) {
	defer rescue(&err)
	r := &reader{terms: t, set: set, info: info, vars: map[types.Object]term{}}
	r.signature(fn)
	last := len(fn.Body.List) - 1
	if last < 0 {
		r.refuse(fn, "a function without statements")
	}
	list := append(r.block(fn.Body.List[:last], false), r.end(fn.Body.List[last])...)
	if i := slices.IndexFunc(list, func(x item) bool { return x.call == "Layout" }); i != 0 {
		r.refuse(fn, "a function that does not begin with Layout")
	}
	return t.normal(list), nil
}
