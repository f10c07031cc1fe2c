package golang

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// lowering turns nodes into statements.
type lowering struct{ next int }

// lower returns nodes as statements, without the variables that nothing uses.
func lower(nodes []gen.Node) []stmt {
	var l lowering
	list := l.nodes(nodes)
	list, _ = prune(list, nil)
	return list
}

func (l *lowering) nodes(nodes []gen.Node) []stmt {
	var list []stmt
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.For:
			list = append(list, stmt{node: n, body: l.nodes(n.Body)})
		case gen.If:
			list = append(list, branch(n, l.nodes(n.Then), l.nodes(n.Else))...)
		case gen.Step:
			list = append(list, stmt{node: n, body: step(l.nodes(n))})
		case gen.Let, gen.LetBuf:
			list = append(list, stmt{node: n})
		case gen.Fold:
			list = append(list, stmt{node: n, body: l.nodes(n.Body)})
		default:
			list = append(list, stmt{node: n, index: l.next})
			l.next++
		}
	}
	return list
}

// branch returns an If. An exchange that both of its ways end with comes after it.
func branch(n gen.If, then, otherwise []stmt) []stmt {
	if endsInExchange(then) && endsInExchange(otherwise) {
		return append(branch(n, withoutExchange(then), withoutExchange(otherwise)), stmt{node: exchange{}})
	}
	return []stmt{{node: n, body: then, otherwise: otherwise}}
}

func endsInExchange(list []stmt) bool {
	if len(list) == 0 {
		return false
	}
	end := list[len(list)-1]
	if _, ok := end.node.(gen.Step); ok {
		return endsInExchange(end.body)
	}
	_, ok := end.node.(exchange)
	return ok
}

// withoutExchange returns list without the exchange that it ends in.
func withoutExchange(list []stmt) []stmt {
	list = slices.Clone(list)
	end := &list[len(list)-1]
	if _, ok := end.node.(gen.Step); ok {
		end.body = withoutExchange(end.body)
		return list
	}
	return list[:len(list)-1]
}

// step parts what is listed in a Step: messages, their exchange, and then the local actions. Where all of it hangs on
// one condition, so does the exchange.
func step(list []stmt) []stmt {
	lets := list[:leadingLets(list)]
	rest := list[len(lets):]
	if len(rest) == 1 && len(rest[0].otherwise) == 0 {
		if _, ok := rest[0].node.(gen.If); ok {
			branch := rest[0]
			branch.body = step(branch.body)
			return append(slices.Clone(lets), branch)
		}
	}
	messages := only(list, isMessage, true)
	local := only(list, isLocal, false)
	if hasActions(messages) {
		messages = append(messages, stmt{node: exchange{}})
	}
	return append(messages, local...)
}

func leadingLets(list []stmt) int {
	n := slices.IndexFunc(list, func(s stmt) bool { return !isLet(s.node) })
	if n < 0 {
		return len(list)
	}
	return n
}

// only returns list with the actions that keep holds for, with the conditions and loops around them, and with its names
// if lets; those in the conditions and loops stay in any case.
func only(list []stmt, keep func(gen.Node) bool, lets bool) []stmt {
	var kept []stmt
	for _, s := range list {
		switch {
		case isLet(s.node):
			if lets {
				kept = append(kept, s)
			}
			continue
		case keep(s.node):
			kept = append(kept, s)
			continue
		}
		s.body, s.otherwise = only(s.body, keep, true), only(s.otherwise, keep, true)
		if hasActions(s.body) || hasActions(s.otherwise) {
			kept = append(kept, s)
		}
	}
	return kept
}

// prune drops the names that nothing after them uses, and what has become empty. used are the names that are used after
// list, which is changed; it returns those that are used from list on.
func prune(list []stmt, used []string) ([]stmt, []string) {
	var kept []stmt
	for _, s := range slices.Backward(list) {
		if names := given(s.node); names != nil {
			if !intersect(names, used) {
				continue
			}
			var inner []string
			if n, ok := s.node.(gen.Fold); ok {
				s, inner = pruneFold(n, s.body, used)
			}
			for _, name := range names {
				used = without(used, name)
			}
			used = append(used, inner...)
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

// pruneFold keeps of a Fold the numbers that are used after it, and those on which they depend. It also returns the
// names from before it that its turns use.
func pruneFold(n gen.Fold, body []stmt, used []string) (s stmt, outer []string) {
	all := n.State
	for {
		n.State = slices.DeleteFunc(slices.Clone(all), func(x gen.State) bool { return !slices.Contains(used, x.Name) })
		next := variables(n.When)
		for _, x := range n.State {
			next = append(next, variables(x.Next)...)
		}
		kept, inner := prune(slices.Clone(body), next)
		s = stmt{node: n, body: kept, usesVar: slices.Contains(inner, n.Var)}
		more := func(x gen.State) bool { return slices.Contains(inner, x.Name) && !slices.Contains(used, x.Name) }
		if !slices.ContainsFunc(all, more) {
			inner = without(inner, n.Var)
			for _, x := range all {
				inner = without(inner, x.Name)
			}
			return s, inner
		}
		used = append(used[:len(used):len(used)], inner...)
	}
}

// merge makes one of two conditions inside one another.
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
