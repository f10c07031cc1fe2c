package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// Simplify returns a with simpler expressions, and without names, loops and conditions that are decided. It is for
// algorithms that Validate accepts and whose expressions have values, because one that has none may be dropped.
// Schedules stay as they are, but for the numbers of the actions that stand after one that is dropped.
func Simplify(a Algorithm) Algorithm {
	return rewriter{expr: simplify, body: simplifyBody}.algorithm(a)
}

func simplifyBody(nodes []Node) []Node {
	if len(nodes) == 0 {
		return nil
	}
	if n, ok := nodes[0].(Fold); ok {
		return simplifyFold(n, nodes[1:])
	}
	n, rest := rewriter{expr: simplify, body: simplifyBody}.node(nodes[0]), nodes[1:]
	switch n := n.(type) {
	case Let:
		if value, ok := constant(n.Is); ok {
			return simplifyBody(replaceVar(rest, n.Name, spec.Int(value)))
		}
	case LetBuf:
		if holds, ok := constant(n.Cond); ok {
			return simplifyBody(replaceBuf(rest, n.Name, choose(holds != 0, n.Then, n.Else)))
		}
	case If:
		if holds, ok := constant(n.Cond); ok {
			return slices.Concat(inline(choose(holds != 0, n.Then, n.Else), rest), simplifyBody(rest))
		}
	case For:
		times, ok := constant(n.N)
		if ok && times <= 0 {
			return simplifyBody(rest)
		}
		if ok && times == 1 {
			once := simplifyBody(replaceVar(n.Body, n.Var, spec.Int(0)))
			return slices.Concat(inline(once, rest), simplifyBody(rest))
		}
	}
	return append([]Node{n}, simplifyBody(rest)...)
}

// simplifyFold returns the Fold n and rest after it. Numbers that do not change become Lets.
func simplifyFold(n Fold, rest []Node) []Node {
	n = simplifyTurn(n)
	times, hasTimes := constant(n.N)
	holds, decided := constant(n.When)
	idle := hasTimes && times <= 0 || decided && holds == 0
	if decided {
		n.When = spec.Expr{}
	}
	var lets, after []Node
	var state []State
	for _, x := range n.State {
		if idle || x.Next.Kind == spec.Variable && x.Next.Name == x.Name {
			lets = append(lets, Let{x.Name, x.First})
		} else {
			state = append(state, x)
		}
	}
	n.State = state
	if len(state) > 0 {
		after = []Node{n}
	}
	if len(lets) > 0 {
		return simplifyBody(slices.Concat(lets, after, rest))
	}
	return slices.Concat(after, simplifyBody(rest))
}

// simplifyTurn returns n with simple expressions. Those at the end of a turn are, for as long as this takes, the ranks
// of messages at the end of its body, so that what is decided there is put into them, too.
func simplifyTurn(n Fold) Fold {
	r := rewriter{expr: simplify, body: func(nodes []Node) []Node { return nodes }}
	n = r.fold(n)
	body := append(n.Body[:len(n.Body):len(n.Body)], Send{To: n.When})
	for _, x := range n.State {
		body = append(body, Send{To: x.Next})
	}
	body = simplifyBody(body)
	end := len(body) - len(n.State)
	n.Body, n.When = append([]Node(nil), body[:end-1]...), body[end-1].(Send).To
	for i := range n.State {
		n.State[i].Next = body[end+i].(Send).To
	}
	return n
}

func choose[T any](cond bool, then, els T) T {
	if cond {
		return then
	}
	return els
}

// inline returns a body that is always done, to stand before rest. It keeps its own scope where the names that it
// gives are given again.
func inline(body, rest []Node) []Node {
	again := names(rest, true)
	if slices.ContainsFunc(names(body, false), func(name string) bool { return slices.Contains(again, name) }) {
		return []Node{If{Cond: spec.Int(1), Then: body}}
	}
	return body
}

// names returns the names that nodes give, and if deep also those that are given inside them.
func names(nodes []Node, deep bool) []string {
	var list []string
	r := rewriter{expr: unchanged, body: func(nodes []Node) []Node {
		if deep {
			list = append(list, names(nodes, deep)...)
		}
		return nodes
	}}
	for _, n := range nodes {
		switch n := n.(type) {
		case Let:
			list = append(list, n.Name)
		case LetBuf:
			list = append(list, string(n.Name))
		case Fold:
			list = append(list, n.Var)
			for _, x := range n.State {
				list = append(list, x.Name)
			}
		case For:
			list = append(list, n.Var)
		case Reduce:
			list = append(list, n.Var)
		}
		r.node(n)
	}
	return list
}

func unchanged(e spec.Expr) spec.Expr { return e }

// replaceVar returns nodes with a variable's value in its place.
func replaceVar(nodes []Node, name string, value spec.Expr) []Node {
	return replaceAll(nodes, rewriter{expr: func(e spec.Expr) spec.Expr { return replaced(e, name, value) }})
}

// replaced returns e with a variable's value in its place.
func replaced(e spec.Expr, name string, value spec.Expr) spec.Expr {
	if e.Kind == spec.Variable && e.Name == name {
		return value
	}
	return mapArgs(e, func(arg spec.Expr) spec.Expr { return replaced(arg, name, value) })
}

// replaceBuf returns nodes with the buffer that a name stands for in its place.
func replaceBuf(nodes []Node, name, is spec.Buf) []Node {
	return replaceAll(nodes, rewriter{expr: unchanged, buf: func(b spec.Buf) spec.Buf { return choose(b == name, is, b) }})
}

func replaceAll(nodes []Node, r rewriter) []Node {
	r.body = func(nodes []Node) []Node { return replaceAll(nodes, r) }
	var list []Node
	for _, n := range nodes {
		list = append(list, r.node(n))
	}
	return list
}

// mapArgs returns e with f of each operand.
func mapArgs(e spec.Expr, f func(spec.Expr) spec.Expr) spec.Expr {
	if len(e.Args) == 0 {
		return e
	}
	args := make([]spec.Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = f(arg)
	}
	e.Args = args
	return e
}

// simplify returns e with constants folded and operations that do nothing left out.
func simplify(e spec.Expr) spec.Expr {
	e = mapArgs(e, simplify)
	if len(e.Args) > 0 && !slices.ContainsFunc(e.Args, isNoConstant) {
		if value, err := e.Eval(nil); err == nil {
			return spec.Int(value)
		}
	}
	switch {
	case e.Kind == spec.CondExpr && e.WellFormed():
		return simplifyCond(e)
	case len(e.Args) == 2:
		return simplifyPair(e)
	case e.Kind == spec.NotExpr && len(e.Args) == 1 && e.Args[0].Kind == spec.NotExpr && isTruth(e.Args[0].Args[0]):
		return e.Args[0].Args[0]
	}
	return e
}

func isNoConstant(e spec.Expr) bool { return e.Kind != spec.Const }

func constant(e spec.Expr) (value int, ok bool) { return e.N, e.Kind == spec.Const }

func simplifyCond(e spec.Expr) spec.Expr {
	cond, then, els := e.Args[0], e.Args[1], e.Args[2]
	if holds, ok := constant(cond); ok {
		return choose(holds != 0, then, els)
	}
	if then.String() == els.String() {
		return then
	}
	return e
}

// What operations with two operands do where one is a constant, or both are the same.
var (
	neutral = map[spec.ExprKind]int{ // x op n = x
		spec.AddExpr: 0, spec.SubExpr: 0, spec.MulExpr: 1, spec.DivExpr: 1, spec.ShlExpr: 0, spec.ShrExpr: 0,
		spec.BitOrExpr: 0, spec.BitXorExpr: 0}
	absorbing = map[spec.ExprKind]int{ // x op n = n
		spec.MulExpr: 0, spec.BitAndExpr: 0, spec.BitOrExpr: -1, spec.AndExpr: 0}
	commutative = []spec.ExprKind{ // x op y = y op x
		spec.AddExpr, spec.MulExpr, spec.BitAndExpr, spec.BitOrExpr, spec.BitXorExpr, spec.AndExpr, spec.OrExpr}
	ofSame = map[spec.ExprKind]int{ // x op x = n
		spec.SubExpr: 0, spec.DivExpr: 1, spec.ModExpr: 0, spec.BitXorExpr: 0,
		spec.NeExpr: 0, spec.LtExpr: 0, spec.EqExpr: 1, spec.LeExpr: 1}
	idempotent = []spec.ExprKind{spec.MinExpr, spec.MaxExpr, spec.BitAndExpr, spec.BitOrExpr} // x op x = x
)

func simplifyPair(e spec.Expr) spec.Expr {
	x, y := e.Args[0], e.Args[1]
	if n, ok := constant(x); ok && slices.Contains(commutative, e.Kind) {
		if r, ok := withConstant(e.Kind, y, n); ok {
			return r
		}
	}
	if n, ok := constant(y); ok {
		if r, ok := withConstant(e.Kind, x, n); ok {
			return r
		}
	}
	if x.String() == y.String() {
		if n, ok := ofSame[e.Kind]; ok {
			return spec.Int(n)
		}
		if slices.Contains(idempotent, e.Kind) {
			return x
		}
	}
	return joinConstants(e)
}

// withConstant returns x op n, where that is not an operation.
func withConstant(op spec.ExprKind, x spec.Expr, n int) (spec.Expr, bool) {
	if a, ok := absorbing[op]; ok && n == a {
		return spec.Int(a), true
	}
	if id, ok := neutral[op]; ok && n == id {
		return x, true
	}
	switch {
	case op == spec.ModExpr && n == 1:
		return spec.Int(0), true
	case op == spec.OrExpr && n != 0:
		return spec.Int(1), true
	case (op == spec.OrExpr && n == 0 || op == spec.AndExpr && n != 0) && isTruth(x):
		return x, true
	}
	return x, false
}

// isTruth reports whether e is 0 or 1.
func isTruth(e spec.Expr) bool {
	return e.Kind >= spec.EqExpr && e.Kind <= spec.NotExpr || e.Kind == spec.Const && (e.N == 0 || e.N == 1)
}

// joinConstants returns a sum or difference whose operands both have constants, with one constant: (x + 1) - 1 is x.
func joinConstants(e spec.Expr) spec.Expr {
	if e.Kind != spec.AddExpr && e.Kind != spec.SubExpr {
		return e
	}
	x, m := splitConstant(e.Args[0])
	y, n := splitConstant(e.Args[1])
	if m == 0 || n == 0 {
		return e
	}
	if e.Kind == spec.SubExpr {
		n = -n
	}
	switch {
	case y.IsAbsent():
	case x.IsAbsent() && e.Kind == spec.SubExpr: // m - (y + n) has no shorter form
		return e
	case x.IsAbsent():
		x = y
	default:
		x = simplify(spec.Expr{Kind: e.Kind, Args: []spec.Expr{x, y}})
	}
	switch m += n; {
	case m < 0:
		return spec.Sub(x, spec.Int(-m))
	case m > 0:
		return spec.Add(x, spec.Int(m))
	}
	return x
}

// splitConstant returns e as the sum of an expression, which may be absent, and a constant.
func splitConstant(e spec.Expr) (spec.Expr, int) {
	switch {
	case e.Kind == spec.Const:
		return spec.Expr{}, e.N
	case e.Kind == spec.AddExpr && e.Args[1].Kind == spec.Const:
		return e.Args[0], e.Args[1].N
	case e.Kind == spec.AddExpr && e.Args[0].Kind == spec.Const:
		return e.Args[1], e.Args[0].N
	case e.Kind == spec.SubExpr && e.Args[1].Kind == spec.Const:
		return e.Args[0], -e.Args[1].N
	}
	return e, 0
}
