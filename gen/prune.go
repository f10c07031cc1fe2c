package gen

import (
	"maps"
	"slices"
)

// Prune returns a without the names that nothing uses, and without loops, conditions and steps that do nothing.
// Schedules stay as they are.
func Prune(a Algorithm) Algorithm {
	a.Body = pruneBody(a.Body)
	return a
}

func pruneBody(nodes []Node) []Node { return pruneBefore(nodes, map[string]bool{}) }

// pruneFold keeps the names of the body that change the numbers.
func pruneFold(n Fold) Fold {
	used := map[string]bool{}
	note(used, n.When)
	for _, x := range n.State {
		note(used, x.Next)
	}
	n.Body = pruneBefore(n.Body, used)
	return n
}

// pruneBefore prunes nodes that stand before what uses the names of used, to which it adds.
func pruneBefore(nodes []Node, used map[string]bool) []Node {
	var kept []Node
	for _, n := range slices.Backward(nodes) {
		if fold, ok := n.(Fold); ok {
			n = pruneFold(fold)
		} else {
			n = rewriter{expr: unchanged, body: pruneBody}.node(n)
		}
		if isIdle(n, used) {
			continue
		}
		maps.Copy(used, uses(n))
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	return kept
}

// isIdle reports whether n does nothing, with used the names that are used after it.
func isIdle(n Node, used map[string]bool) bool {
	switch n := n.(type) {
	case Let:
		return !used[n.Name]
	case LetBuf:
		return !used[string(n.Name)]
	case Fold:
		return !slices.ContainsFunc(n.State, func(x State) bool { return used[x.Name] })
	case For:
		return len(n.Body) == 0
	case If:
		return len(n.Then)+len(n.Else) == 0
	case Step:
		return len(n) == 0
	}
	return false
}
