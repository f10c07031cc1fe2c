package check

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// MapRange finds collectives that are made in the order of a map.
var MapRange = &analysis.Analyzer{
	Name: "maprange",
	Doc: `find collectives in the order of a map

Each rank goes through a map in another order. Ranks whose collectives have
different orders get errors, or each other's values. Go through sorted keys.`,
	URL: url,
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				loop, ok := n.(*ast.RangeStmt)
				if !ok || !inMapOrder(pass.TypesInfo, loop.X) {
					return true
				}
				for _, c := range collectives(pass.TypesInfo, loop.Body) {
					if c.comm != nil && loop.Pos() <= c.comm.Pos() && c.comm.Pos() < loop.End() {
						continue // of a communicator for each key
					}
					pass.Reportf(c.Pos(), "%s in the order of a map, which is another one on each rank", c.fn.Name())
				}
				return true
			})
		}
		return nil, nil
	},
}

// inMapOrder reports whether a loop over x has the order of a map.
func inMapOrder(info *types.Info, x ast.Expr) bool {
	t := info.TypeOf(x)
	if t == nil {
		return false
	}
	if _, isMap := t.Underlying().(*types.Map); isMap {
		return true
	}
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := typeutil.StaticCallee(info, c)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "maps" // Keys, Values, All
}
