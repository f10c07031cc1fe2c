package gen_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// TestHaveVariable: an expression of each kind of node, alone in it, is seen, and another variable is not.
func TestHaveVariable(t *testing.T) {
	x := spec.Add(spec.Int(1), spec.Var("x"))
	at, n, like := gen.Region{At: x}, gen.Region{N: x}, gen.Region{Like: x}
	counts := gen.Region{Counts: []spec.Expr{spec.Int(0), x}}
	inside := []gen.Node{gen.Let{Name: "y", Is: x}}
	for _, node := range []gen.Node{
		gen.For{N: x}, gen.For{Body: inside}, gen.If{Cond: x}, gen.If{Then: inside}, gen.If{Else: inside}, gen.Step(inside),
		gen.Let{Is: x}, gen.LetBuf{Cond: x}, gen.Send{To: x}, gen.Send{Data: at}, gen.Recv{From: x}, gen.Recv{Into: n},
		gen.RecvReduce{From: x}, gen.RecvReduce{Into: like}, gen.RecvReduce{With: counts}, gen.RecvReduce{ReceivedFirst: x},
		gen.Copy{Into: at}, gen.Copy{From: n}, gen.Reduce{Into: like}, gen.Reduce{N: x}, gen.Reduce{From: counts},
		gen.Finish{Data: at},
	} {
		if !gen.HaveVariable([]gen.Node{node}, "x") || gen.HaveVariable([]gen.Node{node}, "y") {
			t.Errorf("%T: %+v", node, node)
		}
	}
}
