package check

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
)

// RankRoot finds roots that depend on the rank.
var RankRoot = &analysis.Analyzer{
	Name: "rankroot",
	Doc: `find roots that depend on the rank

All ranks pass the same root to a collective. One that is computed from
c.Rank() differs among them.`,
	URL: url,
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			ranks := ranksOf(pass.TypesInfo, file)
			ast.Inspect(file, func(n ast.Node) bool {
				c, ok := callOf(pass.TypesInfo, n)
				if !ok || c.message {
					return true
				}
				params := c.fn.Signature().Params()
				for i, arg := range c.Args[:min(len(c.Args), params.Len())] {
					if params.At(i).Name() != "root" {
						continue
					}
					if comm := ranks.in(arg); comm != nil && comm == c.comm {
						pass.Reportf(arg.Pos(), "the root of %s depends on the rank, so it differs among the ranks", c.fn.Name())
					}
				}
				return true
			})
		}
		return nil, nil
	},
}
