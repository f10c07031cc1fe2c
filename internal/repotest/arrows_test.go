package repotest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// oneWay are packages in which uses between files run one way, but for fewer than 5 of 100.
var oneWay = []string{"cmd/collgen", "fast", "fast/internal/mesh", "fast/internal/shm", "fast/internal/tcp", "gen",
	"gen/catalogue", "gen/emit/golang", "gen/induct", "gen/readback", "spec", "verify"}

// TestArrows draws the uses between the files of packages: a file above those whose names it uses. Few run upwards.
func TestArrows(t *testing.T) {
	patterns := make([]string, len(oneWay))
	for i, p := range oneWay {
		patterns[i] = module + "/" + p
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo}, patterns...)
	if err != nil || len(loaded) != len(oneWay) || packages.PrintErrors(loaded) > 0 {
		t.Fatalf("%d packages, %v", len(loaded), err)
	}
	for _, p := range loaded {
		d := draw(p.Fset, p.Types, p.TypesInfo)
		all, up := d.count(d.floors())
		if 20*len(up) >= all {
			t.Errorf("%s: %d of %d uses between files run upwards: %v", p.PkgPath, len(up), all, up)
		}
	}
}

// TestArrowsCanFail draws three files that use each other in a ring, and one below them.
func TestArrowsCanFail(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{
		"a.go": "var A = func() any { return C }", "b.go": "var B = func() any { return A() }",
		"c.go": "var C = func() any { return B() }; type T struct{ d }", "d.go": "type d int; func (d) M() {}",
		"e.go": "var E = T{}.M",
	} {
		f, err := parser.ParseFile(fset, name, "package p; "+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}} // they initialize each other
	p, _ := config.Check("p", fset, files, info)
	d := draw(fset, p, info)
	if all, up := d.count(d.floors()); all != 6 || len(up) != 1 {
		t.Errorf("%d of %d uses run upwards: %v, of %v", len(up), all, up, d)
	}
}

// drawing says which names of another file each file of a package uses.
type drawing map[string]map[string][]string

// draw returns the drawing of a package.
func draw(fset *token.FileSet, p *types.Package, info *types.Info) drawing {
	d := drawing{}
	for id, o := range info.Uses {
		if o.Pkg() != p || !isShared(o) {
			continue
		}
		from, to := fileOf(fset, id.Pos()), fileOf(fset, o.Pos())
		for _, f := range []string{from, to} {
			if d[f] == nil {
				d[f] = map[string][]string{}
			}
		}
		if from != to && !slices.Contains(d[from][to], o.Name()) {
			d[from][to] = append(d[from][to], o.Name())
		}
	}
	return d
}

func fileOf(fset *token.FileSet, pos token.Pos) string {
	return filepath.Base(fset.Position(pos).Filename)
}

// isShared reports whether o is at the package's level, a method or a field.
func isShared(o types.Object) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	_, method := o.(*types.Func)
	return method || o.Parent() == o.Pkg().Scope()
}

// floors returns the files, those that use others first, in an order in which few uses run upwards: a file moves as
// long as it can be at a better place.
func (d drawing) floors() []string {
	var order []string
	for f := range d {
		order = append(order, f)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(len(d[b])-len(d[a]), cmp.Compare(a, b)) })
	for moved := true; moved; {
		moved = false
		for _, f := range slices.Clone(order) {
			at := slices.Index(order, f)
			if to := d.place(order, at); to != at {
				order = slices.Insert(slices.Delete(order, at, at+1), to, f)
				moved = true
			}
		}
	}
	return order
}

// place returns where in order the file at a place has the fewest uses upwards, of others and its own; where it is, if
// no place is better.
func (d drawing) place(order []string, at int) int {
	f, to, least := order[at], at, 0
	uses := func(a, b string) int { return min(1, len(d[a][b])) }
	for worse, i := 0, at+1; i < len(order); i++ {
		if worse += uses(f, order[i]) - uses(order[i], f); worse < least {
			to, least = i, worse
		}
	}
	for worse, i := 0, at-1; i >= 0; i-- {
		if worse += uses(order[i], f) - uses(f, order[i]); worse < least {
			to, least = i, worse
		}
	}
	return to
}

// count returns how many uses there are between files, and those that run upwards in order.
func (d drawing) count(order []string) (all int, up []string) {
	for i, from := range order {
		all += len(d[from])
		for _, to := range order[:i] {
			if names := d[from][to]; len(names) > 0 {
				up = append(up, fmt.Sprintf("%s uses %v of %s", from, names, to))
			}
		}
	}
	return all, up
}
