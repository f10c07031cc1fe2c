package readback

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit"
	"github.com/collgen/collgen/spec"
	"golang.org/x/tools/go/packages"
)

const fastDir = "../../fast"

// printed is a in the form in which it is printed.
func printed(a gen.Algorithm) gen.Algorithm { return gen.Prune(gen.Simplify(a)) }

// collectiveOf is what the code of a primitive of the catalogue is generated from.
func collectiveOf(p spec.Primitive) Collective {
	c := Collective{Primitive: p}
	var declared []gen.Algorithm
	for _, a := range gen.Catalogue() {
		if a.Primitive.Name == p.Name {
			c.Algorithms = append(c.Algorithms, Declared{printed(a), a.Hash()})
			declared = append(declared, a)
		}
	}
	c.Rules = gen.Rules(p, declared)
	return c
}

// runtime is package fast, as it is in this repository.
func runtime(t *testing.T) *Package {
	t.Helper()
	found, err := packages.Load(&packages.Config{Context: t.Context(), Mode: packages.LoadSyntax}, Runtime)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found[0].Errors {
		t.Fatal(e)
	}
	p := &Package{Set: found[0].Fset, Info: found[0].TypesInfo}
	for _, f := range found[0].Syntax {
		if name := filepath.Base(p.Set.Position(f.Package).Filename); strings.HasPrefix(name, "z") {
			p.Files = append(p.Files, f)
		}
	}
	return p
}

// TestCatalogue reads the generated files of package fast back.
func TestCatalogue(t *testing.T) {
	p, algorithms := runtime(t), 0
	for _, primitive := range spec.Primitives() {
		c := collectiveOf(primitive)
		if err := p.Check(c); err != nil {
			t.Errorf("%s: %v", primitive.Name, err)
		}
		algorithms += len(c.Algorithms)
	}
	if algorithms != len(gen.Catalogue()) || algorithms == 0 {
		t.Errorf("%d algorithms of %d were read back", algorithms, len(gen.Catalogue()))
	}
}

var _ = []any{ast.Print, importer.Default, parser.ParseFile, token.NewFileSet, types.NewPackage, os.ReadFile, slices.Sort[[]int], emit.Go}
