package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// imports are packages by their path.
type imports map[string]*types.Package

func (m imports) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not imported here", path)
}

// TestGoldenFilesCompile checks the types in every golden file against package fast.
func TestGoldenFilesCompile(t *testing.T) {
	found, err := packages.Load(&packages.Config{Context: t.Context(), Mode: packages.LoadTypes}, Runtime, CollectivePath,
		"context", "math/bits")
	if err != nil {
		t.Fatal(err)
	}
	known := imports{}
	for _, p := range found {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		known[p.PkgPath] = p.Types
	}
	names, err := filepath.Glob("testdata/*.go.golden")
	if err != nil || len(names) < 10 {
		t.Fatalf("found %q, %v", names, err)
	}
	for _, name := range append(names, "testdata/body.golden") {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		c := types.Config{Importer: known, Error: func(err error) { t.Error(err) }}
		_, _ = c.Check(f.Name.Name, set, []*ast.File{f}, nil) // which tells Error
	}
}
