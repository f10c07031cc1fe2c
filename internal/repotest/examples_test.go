package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// libraries are the packages of calls that programs import, and documented those that docs/api.md has a section on.
var (
	libraries = []string{"fast", "fast/scalar", "fast/object", "fast/neighbor", "fast/hosts", "fast/message",
		"fast/quantized"}
	documented = append([]string{"fast/health", "fast/trace"}, libraries...)
)

// TestCallsHaveExamples: an example that is run shows each call on communicators.
func TestCallsHaveExamples(t *testing.T) {
	for _, dir := range libraries {
		if lacking, calls := withoutExample(t, dir); len(lacking) > 0 || calls < 2 {
			t.Errorf("%s: no example shows %v, of %d calls", dir, lacking, calls)
		}
	}
}

// TestCallsHaveExamplesCanFail has calls that an example shows in each way, and others.
func TestCallsHaveExamplesCanFail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	writeFile(t, dir, "p.go", `package p
type Comm struct{}
func (c *Comm) Shown() {}
func (c *Comm) Hidden() {}
func (c *Comm) hidden() {}
func (c *Comm) String() string { return "" }
func (o *Other) Method() {}
func (c *Comm) Only() {}
func Call(c *Comm) {}
func CallInto(c *Comm) {}
func StartCall(c *Comm) {}
func Lone(c *Comm) {}
func Only(c *Comm) {}
func Make() *Comm { return nil }
func Other(n int) {}
func Run(f func(c *Comm)) {}
func NotRun(c *Comm) {}
`)
	writeFile(t, dir, "p_test.go", `package p_test
func Example() {
	c.Shown()
	p.StartCall(c)
	p.Make()
	c.Only()
	other.Lone(c)
	p.Run(nil)
	// Output: 1
}
func ExampleNotRun() { p.NotRun(c) }
func TestLone() {
	p.Lone(c)
	// Output: 1
}
`)
	got, calls := withoutExample(t, dir)
	if d := cmp.Diff([]string{"Comm.Hidden", "Lone", "NotRun", "Only"}, got); d != "" || calls != 9 {
		t.Errorf("of %d calls: %s", calls, d)
	}
}

// withoutExample returns the calls of the package in dir that none of its examples shows, and how many there are. They
// are the functions and methods that have to do with a communicator; StartReduce and ReduceInto are as Reduce.
func withoutExample(t *testing.T, dir string) (lacking []string, all int) {
	t.Helper()
	calls, shown := map[string]bool{}, map[string]bool{}
	for _, f := range filesOf(t, dir) {
		test := strings.HasSuffix(f.name, "_test.go")
		for _, d := range functionsOf(f.File) {
			switch {
			case test && strings.HasPrefix(d.Name.Name, "Example") && f.hasOutput(d):
				addSelected(d, filepath.Base(dir), shown)
			case !test && d.Name.IsExported() && isCall(d):
				calls[family(d)] = true
			}
		}
	}
	for call := range calls {
		if !shown[call] {
			lacking = append(lacking, call)
		}
	}
	slices.Sort(lacking)
	return lacking, len(calls)
}

// sourceFile is a file of Go, parsed.
type sourceFile struct {
	*ast.File
	name string
}

// filesOf returns the files in dir, tests included.
func filesOf(t *testing.T, dir string) (files []sourceFile) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || names == nil {
		t.Fatal(dir, err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, sourceFile{f, name})
	}
	return files
}

// hasOutput reports whether an example says what it prints, so that it is run.
func (f sourceFile) hasOutput(d *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		return c.Pos() > d.Body.Pos() && c.End() < d.Body.End() && strings.HasPrefix(c.Text(), "Output:")
	})
}

// isCall reports whether d has to do with a communicator, and programs call it by its name.
func isCall(d *ast.FuncDecl) (does bool) {
	if d.Recv != nil {
		return receiver(d) == "Comm" && d.Name.Name != "String"
	}
	ast.Inspect(d.Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		does = does || ok && slices.Contains([]string{"Comm", "Graph", "Grid"}, id.Name)
		return true
	})
	return does
}

// receiver returns the name of the type whose method d is; "" if it is none.
func receiver(d *ast.FuncDecl) (name string) {
	if d.Recv == nil {
		return ""
	}
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// family returns the name that d shares with its other forms.
func family(d *ast.FuncDecl) string {
	if r := receiver(d); r != "" {
		return r + "." + d.Name.Name
	}
	return familyName(d.Name.Name)
}

var form = regexp.MustCompile("^(?:Start)?([A-Z].*?)(?:Into)?$")

func familyName(name string) string { return form.FindStringSubmatch(name)[1] }

// addSelected adds what d takes from the package of that name, and the methods that it uses.
func addSelected(d *ast.FuncDecl, pkg string, shown map[string]bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !s.Sel.IsExported() {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
			shown[familyName(s.Sel.Name)] = true
		} else {
			shown["Comm."+s.Sel.Name] = true
		}
		return true
	})
}
