package gen

import "github.com/collgen/collgen/spec"

// ReducesAtOnce reports whether every result of a is one Reduce of as many operands as its specification says. Where a
// is correct, each operand then is one rank's block, and no partial result is rounded.
func (a *Algorithm) ReducesAtOnce() bool {
	all := operands(a.Primitive)
	atOnce := !all.IsAbsent()
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
	return atOnce
}

// operands returns of how many ranks each result of p reduces a block. It is absent where p reduces nothing, or which
// ranks these are has another form than those below.
func operands(p spec.Primitive) (n spec.Expr) {
	for _, c := range p.Post {
		if c.Value.Kind != spec.Fold {
			continue
		}
		var these spec.Expr
		switch c.Value.Where.String() {
		case spec.Expr{}.String():
			these = spec.Size
		case spec.Le(spec.Q, spec.Rank).String():
			these = spec.Add(spec.Rank, spec.Int(1))
		case spec.Lt(spec.Q, spec.Rank).String():
			these = spec.Rank
		}
		if these.IsAbsent() || !n.IsAbsent() && n.String() != these.String() {
			return spec.Expr{}
		}
		n = these
	}
	return n
}
