package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is a line of the table at the top of a model: an action, and the Go functions that it models.
var (
	row    = regexp.MustCompile(`(?m)^\\\* (\w+) +((?:[\w/]+:[\w.]+ ?)+)$`)
	header = "\\* action "
)

// TestActionsModelFunctions holds the tables at the top of the models against both sides: each action is one of the
// module's, and each function is in the source, as package:Type.Method or package:function.
func TestActionsModelFunctions(t *testing.T) {
	declared := map[string]map[string]bool{}
	for _, model := range models(t) {
		text := read(t, model)
		rows := row.FindAllStringSubmatch(text, -1)
		if !strings.Contains(text, header) || len(rows) == 0 {
			t.Errorf("%s has no table of its actions", model)
		}
		for _, r := range rows {
			if !regexp.MustCompile(`(?m)^` + r[1] + `(\(.*\))? ==`).MatchString(text) {
				t.Errorf("%s has no action %s", model, r[1])
			}
			for function := range strings.FieldsSeq(r[2]) {
				pkg, name, _ := strings.Cut(function, ":")
				if declared[pkg] == nil {
					declared[pkg] = functions(t, filepath.Join("..", pkg))
				}
				if !declared[pkg][name] {
					t.Errorf("%s: %s models %s, which is not there", model, r[1], function)
				}
			}
		}
	}
	if declared["fast"]["Comm.NoSuchFunction"] || !declared["fast"]["Comm.Split"] {
		t.Error("the test cannot tell what is there from what is not")
	}
}

// functions returns those that the package in dir declares, on all platforms, with the types of methods.
func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[receiver(f)+f.Name.Name] = true
			}
		}
	}
	return names
}

// receiver returns the name of the type that f is a method of, with a dot, or nothing.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if g, ok := of.(*ast.IndexExpr); ok {
		of = g.X
	}
	return of.(*ast.Ident).Name + "."
}

// TestManifestNamesEveryConfiguration: no configuration is forgotten, and none is missing. What is called bad has to
// fail, and the rest must not. Each model has both.
func TestManifestNamesEveryConfiguration(t *testing.T) {
	var want []string
	good, bad := map[string]bool{}, map[string]bool{}
	for i := range manifest {
		c := &manifest[i]
		want = append(want, c.file())
		isBad := strings.HasPrefix(c.config, "bad_")
		if isBad == (c.want == "ok") {
			t.Errorf("%s is expected to be %s", c.file(), c.want)
		}
		if isBad {
			bad[c.model] = true
		} else {
			good[c.model] = true
		}
		if task, err := c.prepare(".", t.TempDir()); err != nil {
			t.Error(err)
		} else if !slices.Contains(append(task.invariants, task.property, "ok", "deadlock"), c.want) {
			t.Errorf("%s cannot violate %s", c.file(), c.want)
		}
	}
	got, err := filepath.Glob("config/*/*.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "config/")
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the manifest names %q, the folder has %q", want, got)
	}
	for _, model := range models(t) {
		name := strings.TrimSuffix(filepath.Base(model), ".tla")
		if strings.HasPrefix(name, "Trace") {
			continue // made to follow what was written down, as it is and doctored: see traces.go
		}
		if !good[name] || !bad[name] {
			t.Errorf("%s has to have a configuration that is good and one that is bad", name)
		}
	}
}

// TestCompareFindsWhatIsNotExpected plants a wrong verdict, a wrong number of states, and a wrong trace.
func TestCompareFindsWhatIsNotExpected(t *testing.T) {
	good, bad := &check{want: "ok", states: 7}, &check{want: "Inv", trace: 3}
	for _, x := range []struct {
		c    *check
		r    result
		fine bool
	}{
		{good, result{Verdict: "ok", States: 7}, true},
		{good, result{Verdict: "ok", States: 8}, false},
		{good, result{Verdict: "deadlock", States: 7}, false},
		{bad, result{Verdict: "Inv", States: 9, Trace: 3}, true},
		{bad, result{Verdict: "Inv", States: 9, Trace: 4}, false},
		{bad, result{Verdict: "ok", States: 9}, false},
	} {
		results := []result{x.r}
		if compare(x.c, results); (results[0].Problem == "") != x.fine {
			t.Errorf("%+v, want %+v: %q", x.r, *x.c, results[0].Problem)
		}
	}
}

func models(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("models/*.tla")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
