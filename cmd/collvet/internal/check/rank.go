package check

import (
	"go/ast"
	"go/types"
)

// ranks knows which variables have the rank of a communicator.
type ranks struct {
	info *types.Info
	of   map[types.Object]types.Object // the communicator, by the variable
}

// ranksOf finds the variables of a file that are set once, to c.Rank().
func ranksOf(info *types.Info, file *ast.File) ranks {
	r := ranks{info, map[types.Object]types.Object{}}
	set := map[types.Object]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				name, ok := left.(*ast.Ident)
				if !ok {
					continue
				}
				v := info.ObjectOf(name)
				set[v]++
				if len(n.Rhs) == len(n.Lhs) && v != nil {
					if comm := r.direct(n.Rhs[i]); comm != nil {
						r.of[v] = comm
					}
				}
			}
		case *ast.IncDecStmt:
			set[root(info, n.X)]++
		}
		return true
	})
	for v, times := range set {
		if times > 1 {
			delete(r.of, v)
		}
	}
	return r
}

// direct returns the communicator of which e is the rank, nil if it is none.
func (r ranks) direct(e ast.Expr) types.Object {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	method, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Rank" {
		return nil
	}
	if t := r.info.TypeOf(method.X); t == nil || !isOf(t, "Comm") {
		return nil
	}
	return variable(r.info, method.X)
}

// in returns the communicator on whose rank an expression depends, nil if there is none.
func (r ranks) in(e ast.Expr) (comm types.Object) {
	if e == nil {
		return nil
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if found := r.direct(n); found != nil {
				comm = found
			}
		case *ast.Ident:
			if found := r.of[r.info.ObjectOf(n)]; found != nil {
				comm = found
			}
		}
		return comm == nil
	})
	return comm
}
