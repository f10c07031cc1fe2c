package gen

import "fmt"

// NodeError is an error in an algorithm.
type NodeError struct {
	Algorithm string
	Node      int // index of the action in source order, or -1: not in an action
	Rank      int // or -1: any rank
	Err       error
}

func (e *NodeError) Error() string {
	where := e.Algorithm
	if e.Node >= 0 {
		where += fmt.Sprintf(", action %d", e.Node)
	}
	if e.Rank >= 0 {
		where += fmt.Sprintf(", rank %d", e.Rank)
	}
	return where + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// Path returns where the action of that index, in source order, stands in an algorithm's body, as one writes it in Go:
// "Body[2].Else[0][1]". It is empty if there is no such action.
func Path(body []Node, action int) string { return pathIn("Body", body, action) }

func pathIn(name string, nodes []Node, action int) string {
	for i, n := range nodes {
		here := fmt.Sprintf("%s[%d]", name, i)
		count := CountActions(nodes[i : i+1])
		if action >= count {
			action -= count
			continue
		}
		switch n := n.(type) {
		case For:
			return pathIn(here+".Body", n.Body, action)
		case If:
			if then := CountActions(n.Then); action >= then {
				return pathIn(here+".Else", n.Else, action-then)
			}
			return pathIn(here+".Then", n.Then, action)
		case Fold:
			return pathIn(here+".Body", n.Body, action)
		case Step:
			return pathIn(here, n, action)
		}
		return here
	}
	return ""
}

// CountActions returns the number of actions that stand in nodes.
func CountActions(nodes []Node) int {
	total := 0
	for _, n := range nodes {
		switch n := n.(type) {
		case For:
			total += CountActions(n.Body)
		case If:
			total += CountActions(n.Then) + CountActions(n.Else)
		case Fold:
			total += CountActions(n.Body) // 0, unless it is invalid
		case Step:
			total += CountActions(n)
		case Let, LetBuf:
		default:
			total++
		}
	}
	return total
}
