package repotest

import (
	"flag"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "add to the API that is kept what is new in the packages")

const keptAPI = "testdata/api.txt"

// TestCompatible: the API is what testdata/api.txt says, so that a change of it shows. With -update, what is new is
// added. What is gone or changed breaks programs: its line is deleted by hand, and CHANGELOG.md says so.
func TestCompatible(t *testing.T) {
	var patterns []string
	for _, dir := range documented {
		patterns = append(patterns, "./"+dir)
	}
	is := declarations(t, patterns...)
	kept := strings.Split(strings.TrimSuffix(read(t, "internal/repotest/"+keptAPI), "\n"), "\n")
	gone, added := difference(kept, is)
	for _, line := range gone {
		t.Errorf("breaks programs, is gone or has changed: %s", line)
	}
	if *update && len(added) > 0 {
		kept = append(kept, added...)
		slices.Sort(kept)
		text := strings.TrimPrefix(strings.Join(kept, "\n")+"\n", "\n")
		if err := os.WriteFile(filepath.Join("internal/repotest", keptAPI), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range added {
		t.Errorf("is new; -update adds it to %s: %s", keptAPI, line)
	}
}

// TestCompatibleCanFail changes every kind of declaration.
func TestCompatibleCanFail(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".", "go.mod", "module m\n\ngo 1.26\n")
	load := func(text string) []string {
		writeFile(t, ".", "p.go", "package m\n"+text)
		return declarations(t, ".")
	}
	before := load(`const C = 1
var V int
func F(x int) {}
type S struct{ A, b int }
func (S) M() {}
type I interface{ N() }
type G[T any] struct{}
func (*G[T]) P(T) {}
func h() {}
`)
	after := load(`const C = 2
var V string
func F(x ...int) {}
type S struct{ A string }
func (S) M() error { return nil }
type I interface{ N(); O() }
type G[T comparable] struct{}
func (*G[T]) P(T, T) {}
func i() {}
`)
	gone, added := difference(before, after)
	if len(before) != 9 || len(gone) != 8 || len(added) != 8 { // there is a struct S before and after
		t.Errorf("of %q, %q are gone and %q new", before, gone, added)
	}
	if gone, added := difference(before, before); gone != nil || added != nil {
		t.Errorf("nothing has changed: %q, %q", gone, added)
	}
}

// difference returns the lines of before that are not in after, and the other way round.
func difference(before, after []string) (gone, added []string) {
	lacks := func(lines, others []string) (list []string) {
		for _, line := range lines {
			if !slices.Contains(others, line) {
				list = append(list, line)
			}
		}
		return list
	}
	return lacks(before, after), lacks(after, before)
}

// declarations returns a line for each thing that programs can use of packages, fields and methods included.
func declarations(t *testing.T, patterns ...string) (lines []string) {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports |
		packages.NeedDeps | packages.NeedSyntax | packages.NeedTypesInfo}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors[0])
		}
		name := func(other *types.Package) string {
			if other == p.Types {
				return ""
			}
			return other.Name()
		}
		for _, n := range p.Types.Scope().Names() {
			if o := p.Types.Scope().Lookup(n); o.Exported() {
				for _, line := range declaration(o, name) {
					lines = append(lines, p.Types.Name()+": "+line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// declaration returns the line of o and, of a type, those of its exported fields and methods.
func declaration(o types.Object, name types.Qualifier) []string {
	switch o := o.(type) {
	case *types.Const:
		return []string{types.ObjectString(o, name) + " = " + o.Val().ExactString()}
	case *types.TypeName:
		return typeLines(o, name)
	}
	return []string{types.ObjectString(o, name)}
}

// typeLines returns the lines of a type. One that is another name for a type has the fields and methods of that.
func typeLines(o *types.TypeName, name types.Qualifier) (lines []string) {
	named, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok {
		return []string{types.ObjectString(o, name)}
	}
	head := "type " + o.Name()
	if o.IsAlias() {
		lines = []string{head + " = " + types.TypeString(named, name)}
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+" struct")
		for f := range u.Fields() {
			if f.Exported() {
				lines = append(lines, head+"."+types.ObjectString(f, name))
			}
		}
	default:
		lines = append(lines, head+" "+types.TypeString(u, name))
	}
	for p := range named.TypeParams().TypeParams() {
		lines[0] += ", " + types.TypeString(p, name) + " " + types.TypeString(p.Constraint(), name)
	}
	for m := range named.Methods() {
		if m.Exported() {
			lines = append(lines, types.ObjectString(m, name))
		}
	}
	return lines
}
