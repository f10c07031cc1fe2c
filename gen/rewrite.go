package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// rewriter makes a new node out of an old one. Walks over algorithms that are not executions are made of it.
type rewriter struct {
	expr func(spec.Expr) spec.Expr // makes every expression, absent ones included, anew
	body func([]Node) []Node       // makes the nodes inside a node anew
	buf  func(spec.Buf) spec.Buf   // names every buffer that is used anew; nil: the names stay
}

// node returns n with its expressions and bodies made anew.
func (r rewriter) node(n Node) Node {
	switch n := n.(type) {
	case For:
		return For{n.Var, r.expr(n.N), r.body(n.Body)}
	case If:
		return If{r.expr(n.Cond), r.body(n.Then), r.body(n.Else)}
	case Step:
		return Step(r.body(n))
	case Let:
		return Let{n.Name, r.expr(n.Is)}
	case LetBuf:
		return LetBuf{n.Name, r.expr(n.Cond), r.rename(n.Then), r.rename(n.Else)}
	case Fold:
		return r.fold(n)
	case Send:
		return Send{r.expr(n.To), r.region(n.Data)}
	case Recv:
		return Recv{r.expr(n.From), r.region(n.Into), n.AfterSend, n.Lend}
	case RecvReduce:
		return RecvReduce{r.expr(n.From), r.region(n.Into), r.region(n.With), r.expr(n.ReceivedFirst), n.AfterSend}
	case Copy:
		return Copy{r.region(n.Into), r.region(n.From), n.Lend}
	case Reduce:
		return Reduce{r.region(n.Into), n.Var, r.expr(n.N), r.region(n.From)}
	case Finish:
		return Finish{r.region(n.Data)}
	}
	return n
}

func (r rewriter) fold(n Fold) Fold {
	var state []State
	for _, x := range n.State {
		state = append(state, State{x.Name, r.expr(x.First), r.expr(x.Next)})
	}
	return Fold{n.Var, r.expr(n.N), state, r.body(n.Body), r.expr(n.When)}
}

func (r rewriter) region(x Region) Region {
	var counts []spec.Expr
	for _, e := range x.Counts {
		counts = append(counts, r.expr(e))
	}
	return Region{r.rename(x.Buf), r.expr(x.At), r.expr(x.N), r.expr(x.Like), counts}
}

func (r rewriter) rename(b spec.Buf) spec.Buf {
	if r.buf == nil {
		return b
	}
	return r.buf(b)
}

// algorithm returns a with its expressions and its body made anew. What it requires, and what it costs, stays.
func (r rewriter) algorithm(a Algorithm) Algorithm {
	a.Chunks, a.Scratch, a.Body = r.expr(a.Chunks), r.expr(a.Scratch), r.body(a.Body)
	return a
}

// uses returns the names of the variables and buffers that nodes mention.
func uses(nodes ...Node) map[string]bool {
	used := map[string]bool{}
	var r rewriter
	r.expr = func(e spec.Expr) spec.Expr {
		note(used, e)
		return e
	}
	r.buf = func(b spec.Buf) spec.Buf {
		used[string(b)] = true
		return b
	}
	r.body = func(nodes []Node) []Node {
		for _, n := range nodes {
			r.node(n)
		}
		return nodes
	}
	r.body(nodes)
	return used
}

// note adds the variables of exprs to used.
func note(used map[string]bool, exprs ...spec.Expr) {
	for _, e := range exprs {
		if e.Kind == spec.Variable {
			used[e.Name] = true
		}
		note(used, e.Args...)
	}
}

// haveVariable reports whether some expression of nodes has the variable of that name. It is asked so often that it
// makes no nodes, as a rewriter would.
func haveVariable(nodes []Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool { return nodeHasVariable(n, name) })
}

func nodeHasVariable(n Node, name string) bool {
	has := func(e spec.Expr) bool { return hasVariable(&e, name) }
	in := func(x Region) bool {
		return has(x.At) || has(x.N) || has(x.Like) || slices.ContainsFunc(x.Counts, has)
	}
	switch n := n.(type) {
	case For:
		return has(n.N) || haveVariable(n.Body, name)
	case If:
		return has(n.Cond) || haveVariable(n.Then, name) || haveVariable(n.Else, name)
	case Step:
		return haveVariable(n, name)
	case Let:
		return has(n.Is)
	case LetBuf:
		return has(n.Cond)
	case Send:
		return has(n.To) || in(n.Data)
	case Recv:
		return has(n.From) || in(n.Into)
	case RecvReduce:
		return has(n.From) || in(n.Into) || in(n.With) || has(n.ReceivedFirst)
	case Copy:
		return in(n.Into) || in(n.From)
	case Reduce:
		return in(n.Into) || has(n.N) || in(n.From)
	case Finish:
		return in(n.Data)
	}
	return false
}

// hasVariable reports whether e has the variable of that name.
func hasVariable(e *spec.Expr, name string) bool {
	for i := range e.Args {
		if hasVariable(&e.Args[i], name) {
			return true
		}
	}
	return e.Kind == spec.Variable && e.Name == name
}
