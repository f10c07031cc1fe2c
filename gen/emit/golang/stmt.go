package golang

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

func hasBody(n gen.Node) bool {
	switch n.(type) {
	case gen.For, gen.If, gen.Step:
		return true
	}
	return false
}

// given returns the names that n gives for the rest of the block that it stands in.
func given(n gen.Node) []string {
	switch n := n.(type) {
	case gen.Let:
		return []string{n.Name}
	case gen.LetBuf:
		return []string{bufName(n.Name)}
	case gen.Fold:
		var names []string
		for _, x := range n.State {
			names = append(names, x.Name)
		}
		return names
	}
	return nil
}

// letNames returns the names that list itself declares.
func letNames(list []stmt) []string {
	var names []string
	for _, s := range list {
		names = append(names, given(s.node)...)
	}
	return names
}

// declared returns the names that list declares, and those that it declares inside its statements.
func declared(list []stmt) []string {
	names := letNames(list)
	for _, s := range list {
		names = slices.Concat(names, []string{loopVar(s.node)}, declared(s.body), declared(s.otherwise))
	}
	return names
}

func intersect(x, y []string) bool {
	return slices.ContainsFunc(x, func(name string) bool { return slices.Contains(y, name) })
}

func loopVar(n gen.Node) string {
	switch n := n.(type) {
	case gen.For:
		return n.Var
	case gen.Fold:
		return n.Var
	}
	return ""
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

// names returns the variables and buffers that n itself uses.
func names(n gen.Node) []string {
	switch n := n.(type) {
	case gen.For:
		return variables(n.N)
	case gen.If:
		return variables(n.Cond)
	case gen.Let:
		return variables(n.Is)
	case gen.Fold:
		list := variables(n.N)
		for _, x := range n.State {
			list = append(list, variables(x.First)...)
		}
		return list
	case gen.LetBuf:
		return append(variables(n.Cond), bufName(n.Then), bufName(n.Else))
	case gen.Send:
		return append(variables(n.To), regionNames(n.Data)...)
	case gen.Recv:
		return append(variables(n.From), regionNames(n.Into)...)
	case gen.RecvReduce:
		return slices.Concat(variables(n.From, n.ReceivedFirst), regionNames(n.Into, n.With))
	case gen.Copy:
		return regionNames(n.Into, n.From)
	case gen.Reduce:
		return slices.Concat(variables(n.N), regionNames(n.Into), without(regionNames(n.From), n.Var))
	case gen.Finish:
		return regionNames(n.Data)
	}
	return nil
}

// bufName returns how a buffer stands in a list of names, apart from a variable of the same name.
func bufName(buf spec.Buf) string { return "buffer " + string(buf) }

func regionNames(regions ...gen.Region) []string {
	var list []string
	for _, r := range regions {
		list = append(append(list, bufName(r.Buf)), variables(r.At, r.N)...)
		if hasLike(r) {
			list = append(list, variables(likeOf(r))...)
		}
	}
	return list
}

// hasLike reports whether what a region's data are as long as is printed: it counts in scratch alone, and of one slot.
func hasLike(r gen.Region) bool {
	return !likeOf(r).IsAbsent() && same(r.N.OrElse(spec.Int(1)), spec.Int(1)) && r.Buf != spec.In && r.Buf != spec.Out
}

// likeOf returns which chunk the data of a region are as long as, or which uneven block of those that all ranks know.
func likeOf(r gen.Region) spec.Expr {
	if len(r.Counts) > 0 {
		return r.Counts[0]
	}
	return r.Like
}

// variables returns the variables of exprs, each as often as it occurs.
func variables(exprs ...spec.Expr) []string {
	var list []string
	for _, e := range exprs {
		if e.Kind == spec.Variable {
			list = append(list, e.Name)
		}
		list = append(list, variables(e.Args...)...)
	}
	return list
}

// stmt is a statement of the Go that a body becomes: a node, without the nodes inside it, or an exchange.
type stmt struct {
	node      gen.Node
	index     int    // of the action, in source order
	body      []stmt // of a For, a Fold, an If and a Step
	otherwise []stmt // of an If
	usesVar   bool   // of a For and a Fold: its variable is used
}

// exchange is the statement that ends the communicating part of a Step.
type exchange struct{ gen.Node }

func isLet(n gen.Node) bool {
	switch n.(type) {
	case gen.Let, gen.LetBuf, gen.Fold:
		return true
	}
	return false
}

func isMessage(n gen.Node) bool {
	switch n.(type) {
	case gen.Send, gen.Recv, gen.RecvReduce:
		return true
	}
	return false
}

func isLocal(n gen.Node) bool {
	switch n.(type) {
	case gen.Copy, gen.Reduce, gen.Finish:
		return true
	}
	return false
}

// hasActions reports whether there is more in list than names, where every condition and loop has actions.
func hasActions(list []stmt) bool {
	return slices.ContainsFunc(list, func(s stmt) bool { return !isLet(s.node) })
}

// same reports whether x and y are the same expression.
func same(x, y spec.Expr) bool { return x.String() == y.String() }
