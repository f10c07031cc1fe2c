package emit

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// prune drops the names that nothing after them uses, and what has become empty. used are the names that are used after
// list, which is changed; it returns those that are used from list on.
func prune(list []stmt, used []string) ([]stmt, []string) {
	var kept []stmt
	for _, s := range slices.Backward(list) {
		if name := letName(s.node); name != "" {
			if !slices.Contains(used, name) {
				continue
			}
			used = without(used, name)
		} else if hasBody(s.node) {
			var inner, other []string
			s.body, inner = prune(s.body, nil)
			s.usesVar = slices.Contains(inner, loopVar(s.node))
			s.otherwise, other = prune(s.otherwise, nil)
			if len(s.body)+len(s.otherwise) == 0 {
				continue
			}
			s = merge(s)
			used = append(append(used, without(inner, loopVar(s.node))...), other...)
		}
		used = append(used, names(s.node)...)
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	return kept, used
}

// merge makes one of two conditions inside of one another.
func merge(s stmt) stmt {
	outer, isIf := s.node.(gen.If)
	inner := s
	for len(inner.body) == 1 && len(inner.otherwise) == 0 {
		inner = inner.body[0]
		if n, ok := inner.node.(gen.If); ok && isIf && len(inner.otherwise) == 0 {
			return stmt{node: gen.If{Cond: spec.And(outer.Cond, n.Cond)}, body: inner.body}
		}
		if _, ok := inner.node.(gen.Step); !ok {
			break
		}
	}
	return s
}

func hasBody(n gen.Node) bool {
	switch n.(type) {
	case gen.For, gen.If, gen.Step:
		return true
	}
	return false
}

func letName(n gen.Node) string {
	switch n := n.(type) {
	case gen.Let:
		return n.Name
	case gen.LetBuf:
		return bufName(n.Name)
	}
	return ""
}

// letNames returns the names that list itself declares.
func letNames(list []stmt) []string {
	var names []string
	for _, s := range list {
		if name := letName(s.node); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// declared returns the names that list declares, and those that it declares inside of its statements.
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
	if n, ok := n.(gen.For); ok {
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
			list = append(list, variables(r.Like)...)
		}
	}
	return list
}

// hasLike reports whether what a region's data are as long as is printed: it counts in scratch alone, and of one slot.
func hasLike(r gen.Region) bool {
	return !r.Like.IsAbsent() && same(r.N.OrElse(spec.Int(1)), spec.Int(1)) && r.Buf != spec.In && r.Buf != spec.Out
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
