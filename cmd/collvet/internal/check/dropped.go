package check

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Dropped finds calls whose error or handle nobody looks at.
var Dropped = &analysis.Analyzer{
	Name: "dropped",
	Doc: `find calls whose error or handle is dropped

After a call that failed, its buffers hold anything. A started call whose
handle is dropped is never known to be over. An error that may be ignored is
assigned to _.`,
	URL: url,
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ExprStmt:
					dropped(pass, n.X)
				case *ast.GoStmt:
					dropped(pass, n.Call)
				case *ast.DeferStmt:
					dropped(pass, n.Call)
				case *ast.AssignStmt:
					for i, right := range n.Rhs {
						left, ok := n.Lhs[i].(*ast.Ident)
						if c, is := callOf(pass.TypesInfo, right); is && c.starts() && ok && left.Name == "_" {
							dropped(pass, right)
						}
					}
				}
				return true
			})
		}
		return nil, nil
	},
}

// dropped reports e if it is a call that returns a handle or an error.
func dropped(pass *analysis.Pass, e ast.Expr) {
	if c, ok := callOf(pass.TypesInfo, e); ok {
		if c.starts() {
			pass.Reportf(e.Pos(), "the handle of %s is dropped: nothing tells when the call is over", c.fn.Name())
			return
		}
		pass.Reportf(e.Pos(), "the error of %s is ignored", c.fn.Name())
		return
	}
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return
	}
	if fn := typeutil.StaticCallee(pass.TypesInfo, c); fn != nil && isFast(fn.Pkg()) && waits(fn) {
		pass.Reportf(e.Pos(), "the error of %s is ignored", fn.Name())
	}
}

// waits reports whether fn is a method that waits for a call, or makes one, and returns its error.
func waits(fn *types.Func) bool {
	receiver := fn.Signature().Recv()
	if receiver == nil {
		return false
	}
	switch fn.Name() {
	case "Wait", "Start", "Do":
		return isOf(receiver.Type(), "Handle") || isOf(receiver.Type(), "Persistent")
	}
	return false
}
