package repotest

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// TestAPI: docs/api.md names all that the libraries export and nothing else, and its examples are there.
func TestAPI(t *testing.T) {
	page := read(t, "docs/api.md")
	for _, dir := range documented {
		for _, fault := range apiFaults(t, page, dir) {
			t.Error(fault)
		}
	}
	if n := len(exampleLink.FindAllString(page, -1)); n < 60 {
		t.Errorf("the page has %d examples", n)
	}
}

// TestAPICanFail has a page that lacks names, and has names and examples that are not there.
func TestAPICanFail(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "p", "p.go", `package p
const A = 1
var ErrB, c = 1, 2
type T[P any] struct{}
func (t *T[P]) M() {}
func (t *T[P]) N() {}
func (t *T[P]) String() string { return "" }
func F() {}
func G() {}
`)
	writeFile(t, "p", "p_test.go", "package p\nfunc ExampleF() {}\nfunc Example_all() {}\nfunc Example() {}\n")
	page := "## Package q\n\n`G`\n\n## Package p\n\n| `A`, `F`, `T.M` | [F](../p/p_test.go), [G](../p/p_test.go), " +
		"[all](../p/p_test.go), [of the package](../p/p_test.go), [one](../p/p_test.go) |\n`H` `T.O` `docs`\n"
	want := []string{"p: no example G in p/p_test.go", "p: no example one in p/p_test.go", "p: the page lacks ErrB",
		"p: the page lacks G", "p: the page lacks T", "p: the page lacks T.N", "p: there is no H", "p: there is no T.O"}
	if d := cmp.Diff(want, apiFaults(t, page, "p")); d != "" {
		t.Error(d)
	}
}

var (
	apiName     = regexp.MustCompile("`([A-Z]\\w*(?:\\.[A-Z]\\w*)?)`")
	exampleLink = regexp.MustCompile(`\[([\w ]+)\]\(\.\./([a-z/_]+_test\.go)\)`)
)

// apiFaults returns what is wrong with the page's section on the package in dir.
func apiFaults(t *testing.T, page, dir string) (faults []string) {
	t.Helper()
	_, section, _ := strings.Cut(page, "## Package "+dir+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, m := range apiName.FindAllStringSubmatch(section, -1) {
		named = append(named, m[1])
	}
	exported := exportedNames(t, dir)
	for _, name := range exported {
		if !slices.Contains(named, name) {
			faults = append(faults, dir+": the page lacks "+name)
		}
	}
	for _, name := range named {
		if !slices.Contains(exported, name) {
			faults = append(faults, dir+": there is no "+name)
		}
	}
	for _, m := range exampleLink.FindAllStringSubmatch(section, -1) {
		if !strings.Contains(read(t, m[2]), "\nfunc "+exampleFunction(m[1])+"()") {
			faults = append(faults, dir+": no example "+m[1]+" in "+m[2])
		}
	}
	slices.Sort(faults)
	return faults
}

// exampleFunction returns the name of the function that go doc shows as the example of that name.
func exampleFunction(name string) string {
	switch {
	case name == "of the package":
		return "Example"
	case unicode.IsLower(rune(name[0])):
		return "Example_" + name
	}
	return "Example" + name
}

// exportedNames returns what the package in dir exports, and the methods of its types, as T.M.
func exportedNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, f := range filesOf(t, dir) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names = append(names, exportedFunction(d)...)
			case *ast.GenDecl:
				names = append(names, exportedIn(d)...)
			}
		}
	}
	return names
}

// exportedFunction returns the name of d, if d is exported and its name does not say all.
func exportedFunction(d *ast.FuncDecl) []string {
	name, of := d.Name.Name, receiver(d)
	obvious := of != "" && of != "Comm" && slices.Contains([]string{"Error", "Unwrap", "String"}, name)
	switch {
	case !ast.IsExported(name) || obvious || of != "" && !ast.IsExported(of):
		return nil
	case of != "":
		return []string{of + "." + name}
	}
	return []string{name}
}

// exportedIn returns the types, constants and variables that d declares.
func exportedIn(d *ast.GenDecl) (names []string) {
	for _, s := range d.Specs {
		var ids []*ast.Ident
		switch s := s.(type) {
		case *ast.TypeSpec:
			ids = []*ast.Ident{s.Name}
		case *ast.ValueSpec:
			ids = s.Names
		}
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	return names
}
