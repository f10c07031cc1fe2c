package check

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Touched finds uses of buffers that belong to a started call.
var Touched = &analysis.Analyzer{
	Name: "touched",
	Doc: `find uses of buffers between the start of a call and the wait for it

Until a started call is over, its buffers belong to it: those that it fills may
not be read, and none may be written. Calls on the same communicator come one
after the other, except messages.`,
	URL: url,
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				if block, ok := n.(*ast.BlockStmt); ok {
					for i, s := range block.List {
						for _, l := range lent(pass.TypesInfo, s) {
							l.check(pass, block.List[i+1:])
						}
					}
				}
				return true
			})
		}
		return nil, nil
	},
}

// loan is a buffer that belongs to a started call.
type loan struct {
	call
	handle types.Object
	buffer types.Object
	filled bool // by the call, so that it may not be read either
}

// lent returns the buffers that a statement of the form h := fast.Start…(…) lends. Parts of variables are left out:
// another part may be used.
func lent(info *types.Info, s ast.Stmt) (loans []loan) {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil
	}
	c, ok := callOf(info, assign.Rhs[0])
	if !ok || !c.starts() {
		return nil
	}
	handle := variable(info, assign.Lhs[0])
	params := c.fn.Signature().Params()
	for i, arg := range c.Args[:min(len(c.Args), params.Len())] {
		name, ok := ast.Unparen(arg).(*ast.Ident)
		if _, isSlice := params.At(i).Type().Underlying().(*types.Slice); !ok || !isSlice || handle == nil {
			continue
		}
		if v, ok := info.ObjectOf(name).(*types.Var); ok {
			loans = append(loans, loan{c, handle, v, fills(c.fn, params.At(i).Name())})
		}
	}
	return loans
}

// fills reports whether a call writes to the buffer that is its parameter of that name.
func fills(fn *types.Func, param string) bool {
	return param != "src" && param != "out" && fn.Name() != "StartSend"
}

// check reports uses of the buffer in the statements that follow, up to one that has to do with the handle.
func (l *loan) check(pass *analysis.Pass, rest []ast.Stmt) {
	for _, s := range rest {
		if l.mentions(pass.TypesInfo, s, l.handle) || l.replaced(pass.TypesInfo, s) {
			return
		}
		if at := l.use(pass.TypesInfo, s); at.IsValid() {
			what := "written"
			if l.filled {
				what = "used"
			}
			pass.Reportf(at, "%s is %s before the call that %s has started in line %d is over", l.buffer.Name(), what,
				l.fn.Name(), pass.Fset.Position(l.Pos()).Line)
			return
		}
	}
}

func (l *loan) mentions(info *types.Info, n ast.Node, v types.Object) (is bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && info.ObjectOf(name) == v {
			is = true
		}
		return !is
	})
	return is
}

// replaced reports whether the variable of the buffer gets another one.
func (l *loan) replaced(info *types.Info, s ast.Stmt) bool {
	assign, ok := s.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, left := range assign.Lhs {
		if name, ok := left.(*ast.Ident); ok && info.ObjectOf(name) == l.buffer {
			return true
		}
	}
	return false
}

// use returns where the buffer is used in a way that it may not be.
func (l *loan) use(info *types.Info, n ast.Node) (at token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok {
				switch _, builtin := info.ObjectOf(name).(*types.Builtin); {
				case builtin && (name.Name == "len" || name.Name == "cap"):
					return false
				case builtin && (name.Name == "copy" || name.Name == "clear") && root(info, n.Args[0]) == l.buffer:
					at = n.Pos()
				}
			}
			c, ok := callOf(info, n)
			switch {
			case !ok:
			case c.comm != nil && c.comm == l.comm && !(c.message && l.message):
				return false // it comes after the other
			case !l.filled:
				params := c.fn.Signature().Params()
				for i, arg := range c.Args[:min(len(c.Args), params.Len())] {
					if root(info, arg) == l.buffer && fills(c.fn, params.At(i).Name()) && c.fn.Name() != "Send" {
						at = arg.Pos()
					}
				}
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if root(info, left) == l.buffer {
					at = left.Pos()
				}
			}
		case *ast.IncDecStmt:
			if root(info, n.X) == l.buffer {
				at = n.Pos()
			}
		case *ast.Ident:
			if l.filled && info.ObjectOf(n) == l.buffer {
				at = n.Pos()
			}
		}
		return !at.IsValid()
	})
	return at
}
