package readback

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Runtime is the path of the package whose types generated code is written in.
const Runtime = "github.com/collgen/collgen/fast/internal/exec"

// reader reads a generated function.
type reader struct {
	*terms
	set    *token.FileSet
	info   *types.Info
	ctx, x types.Object          // the function's parameters
	vars   map[types.Object]term // what local variables hold
	loops  int                   // and folds around the statement
}

// refuse ends the reading.
func (r *reader) refuse(n ast.Node, what string) {
	refuse("%s: %s cannot be read back", r.set.Position(n.Pos()), what)
}

func (r *reader) expect(ok bool, n ast.Node, what string) {
	if !ok {
		r.refuse(n, what)
	}
}

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path && n.Obj().Name() == name
}

// isBasic reports whether a type is int or bool itself.
func isBasic(t types.Type, kind types.BasicKind) bool { return t == types.Typ[kind] }

func (r *reader) isX(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && r.info.Uses[id] == r.x
}
