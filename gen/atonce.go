package gen

import "github.com/collgen/collgen/spec"

// ReducesAtOnce reports whether every result of a is one Reduce of as many operands as it has blocks: of size of them,
// or of those up to a rank in a prefix reduction. Where a is correct, each operand then is one rank's block, and no
// partial result is rounded.
func (a *Algorithm) ReducesAtOnce() bool {
	takesOp, atOnce := false, true
	for _, p := range a.Primitive.Params {
		takesOp = takesOp || p == spec.ParamOp
	}
	all := spec.Size
	switch a.Primitive.Name {
	case spec.Scan.Name:
		all = spec.Add(spec.Rank, spec.Int(1))
	case spec.Exscan.Name:
		all = spec.Rank
	}
	r := rewriter{expr: func(e spec.Expr) spec.Expr { return e }}
	r.body = func(nodes []Node) []Node {
		for _, n := range nodes {
			switch n := n.(type) {
			case RecvReduce:
				atOnce = false
			case Reduce:
				atOnce = atOnce && n.N.String() == all.String()
			default:
				r.node(n)
			}
		}
		return nodes
	}
	r.body(a.Body)
	return takesOp && atOnce
}
