package gen

import "github.com/collgen/collgen/spec"

// Change returns a with its i-th expression, buffer or mark changed, if it has so many.
func Change(a Algorithm, i int) (Algorithm, bool) {
	isIt := func() bool { i--; return i == -1 }
	var r rewriter
	r.expr = func(e spec.Expr) spec.Expr {
		if isIt() {
			return spec.Add(e.OrElse(spec.Int(1)), spec.Int(77))
		}
		return e
	}
	r.buf = func(b spec.Buf) spec.Buf {
		if isIt() {
			return "changed"
		}
		return b
	}
	r.body = func(nodes []Node) []Node {
		var list []Node
		for _, n := range nodes {
			n = r.node(n)
			switch x := n.(type) {
			case Recv:
				x.AfterSend = x.AfterSend != isIt()
				n = x
			case RecvReduce:
				x.AfterSend = x.AfterSend != isIt()
				n = x
			case Step:
				if isIt() {
					continue
				}
			}
			list = append(list, n)
		}
		return list
	}
	changed := r.algorithm(a)
	return changed, i < 0
}
