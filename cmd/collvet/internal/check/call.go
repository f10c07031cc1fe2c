package check

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// fastPath is the import path of package fast. Those below it have calls, too.
const fastPath = "github.com/collgen/collgen/fast"

// call is a call of a function that takes part in communication.
type call struct {
	*ast.CallExpr
	fn      *types.Func
	comm    types.Object // the variable of the communicator, or Bucket; nil: it is no variable
	message bool         // it is between two ranks, so that the others do not make it
}

// callOf returns the call that n is, and whether it is one: it takes a context, and a communicator or what is made of
// one.
func callOf(info *types.Info, n ast.Node) (c call, ok bool) {
	c.CallExpr, ok = n.(*ast.CallExpr)
	if !ok {
		return c, false
	}
	c.fn = typeutil.StaticCallee(info, c.CallExpr)
	if c.fn == nil || !isFast(c.fn.Pkg()) || !c.fn.Exported() {
		return c, false
	}
	sig := c.fn.Signature()
	if sig.Params().Len() == 0 || sig.Params().At(0).Type().String() != "context.Context" {
		return c, false
	}
	c.message = strings.HasSuffix(c.fn.Pkg().Path(), "/message") || strings.Contains(c.fn.Name(), "Send") ||
		strings.Contains(c.fn.Name(), "Recv")
	switch receiver := sig.Recv(); {
	case receiver != nil && isOf(receiver.Type(), "Comm"):
		c.comm = variable(info, c.Fun.(*ast.SelectorExpr).X)
		return c, !ownOf[c.fn.Name()]
	case receiver != nil && isOf(receiver.Type(), "Bucket"):
		c.comm = variable(info, c.Fun.(*ast.SelectorExpr).X)
		return c, true
	case receiver == nil && sig.Params().Len() > 1 && len(c.Args) > 1:
		second := sig.Params().At(1).Type()
		c.comm = variable(info, c.Args[1])
		return c, isOf(second, "Comm") || isOf(second, "Graph")
	}
	return c, false
}

// ownOf are the methods of Comm that not all of its ranks call.
var ownOf = map[string]bool{"Group": true, "Health": true, "Invite": true}

func isFast(p *types.Package) bool {
	return p != nil && (p.Path() == fastPath || strings.HasPrefix(p.Path(), fastPath+"/")) &&
		!strings.Contains(p.Path(), "/internal")
}

// isOf reports whether t is a pointer to the type of that name in package fast or one below it.
func isOf(t types.Type, name string) bool {
	pointer, ok := t.(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(pointer.Elem()).(*types.Named)
	return ok && named.Obj().Name() == name && isFast(named.Obj().Pkg())
}

// primitive returns the name of what the ranks do together: that of BroadcastInto, Broadcast and StartBroadcast is the
// same.
func (c *call) primitive() string {
	name := strings.TrimPrefix(strings.TrimSuffix(c.fn.Name(), "Into"), "Start")
	if path := c.fn.Pkg().Path(); path != fastPath {
		return c.fn.Pkg().Name() + "." + name
	}
	return name
}

// starts reports whether the call returns a handle.
func (c *call) starts() bool {
	results := c.fn.Signature().Results()
	return results.Len() > 0 && isOf(results.At(0).Type(), "Handle")
}

// variable returns the variable that an expression is, or a field that is named by one: c or s.comm. It returns nil
// for other expressions.
func variable(info *types.Info, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return info.ObjectOf(e)
	case *ast.SelectorExpr:
		return info.ObjectOf(e.Sel)
	}
	return nil
}

// root returns the variable whose memory an expression is of: x of x[1:], *x and x.y[i].
func root(info *types.Info, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ := info.ObjectOf(x).(*types.Var)
			if v == nil {
				return nil
			}
			return v
		case *ast.SelectorExpr:
			if _, isField := info.Selections[x]; !isField {
				return info.ObjectOf(x.Sel)
			}
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// collectives returns the calls that all ranks of a communicator make, in a piece of code.
func collectives(info *types.Info, nodes ...ast.Node) (found []call) {
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if c, ok := callOf(info, n); ok && !c.message {
				found = append(found, c)
			}
			return true
		})
	}
	return found
}
