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

func choose[T any](cond bool, then, els T) T {
	if cond {
		return then
	}
	return els
}

// inline returns a body that is always done, to stand before rest. It keeps a scope of its own where the names that it
// gives are given again.
func inline(body, rest []Node) []Node {
	again := names(rest, true)
	if slices.ContainsFunc(names(body, false), func(name string) bool { return slices.Contains(again, name) }) {
		return []Node{If{Cond: spec.Int(1), Then: body}}
	}
	return body
}

// names returns the names that nodes give, and if deep also those that are given inside of them.
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
	var inExpr func(spec.Expr) spec.Expr
	inExpr = func(e spec.Expr) spec.Expr {
		if e.Kind == spec.Variable && e.Name == name {
			return value
		}
		return mapArgs(e, inExpr)
	}
	return replaceAll(nodes, rewriter{expr: inExpr})
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
