package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// selfEvident are methods whose name says what they do: the interface they implement documents them.
var selfEvident = []string{"Error", "Is", "Len", "Less", "Swap", "Read", "Write", "Close"}

func TestDocumentation(t *testing.T) {
	for _, u := range undocumented(t, ".") {
		t.Error(u)
	}
}

// TestDocumentationCanFail has everything that needs a comment, once with and once without.
func TestDocumentationCanFail(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "good/doc.go", "// Package good is documented.\npackage good\n")
	writeFile(t, dir, "good/good.go", `package good

// T is documented.
type T struct{}

// M is documented.
func (T) M() {}

func (T) Error() string { return "" }

type hidden struct{}

func (*hidden) M() {}

// F is documented.
func F() {}

// These are documented together.
const (
	A = iota
	B
)

var (
	// V is documented.
	V int
	W int // W is documented.
)
`)
	writeFile(t, dir, "bad/bad.go", `package bad

type T[P any] struct{}

func (*T[P]) M() {}

func F() {}

const (
	A = iota
	b
)

var V, w int

// These types are not documented together.
type (
	U int
	x int
)
`)
	writeFile(t, dir, "bad/bad_test.go", "package bad\n\nfunc InTest() {}\n")
	want := []string{
		"bad has no package comment",
		"bad/bad.go:10: A has no comment",
		"bad/bad.go:14: V has no comment",
		"bad/bad.go:18: U has no comment",
		"bad/bad.go:3: T has no comment",
		"bad/bad.go:5: M has no comment",
		"bad/bad.go:7: F has no comment",
	}
	if d := cmp.Diff(want, undocumented(t, dir)); d != "" {
		t.Error(d)
	}
}

// undocumented lists what needs a comment and has none in the Go files under root, nested modules included, but not
// tests.
func undocumented(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	packages := make(map[string]bool) // by directory: whether it has a package comment
	for _, name := range goFiles(t, root) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(name)
		packages[dir] = packages[dir] || f.Doc != nil
		for _, id := range undocumentedNames(f) {
			position := set.Position(id.Pos())
			found = append(found, name+":"+strings.Split(position.String(), ":")[1]+": "+id.Name+" has no comment")
		}
	}
	for dir, documented := range packages {
		if !documented {
			found = append(found, dir+" has no package comment")
		}
	}
	slices.Sort(found)
	return found
}

// goFiles returns the Go files under root, relative to it, less those that the go command ignores and testdata.
func goFiles(t *testing.T, root string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") {
			relative, err := filepath.Rel(root, path)
			names = append(names, relative)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// undocumentedNames returns the exported names that f declares without a comment.
func undocumentedNames(f *ast.File) (found []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if needsComment(d) && d.Doc == nil {
				found = append(found, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				found = append(found, undocumentedIn(d, s)...)
			}
		}
	}
	return found
}

// needsComment reports whether a function or method can be used elsewhere.
func needsComment(d *ast.FuncDecl) bool {
	if !d.Name.IsExported() {
		return false
	}
	if d.Recv == nil {
		return true
	}
	receiver := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && receiver == "" {
			receiver = id.Name
		}
		return true
	})
	return ast.IsExported(receiver) && !slices.Contains(selfEvident, d.Name.Name)
}

// undocumentedIn returns the exported names of one specification in d without a comment. The comment of a group serves
// its constants and variables, but not its types.
func undocumentedIn(d *ast.GenDecl, s ast.Spec) (found []*ast.Ident) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
			found = append(found, s.Name)
		}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			if id.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
				found = append(found, id)
			}
		}
	}
	return found
}
