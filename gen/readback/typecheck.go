package readback

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Sources are the files of packages that generated code needs: of the one that it belongs to, without what was
// generated, and of those of this module whose types it uses. Functions' bodies in them do not count.
type Sources map[string][]string // names of files, by the path of the package

// Checker checks types.
type Checker struct{ imports imports }

// NewChecker returns a Checker of code that needs these sources.
func NewChecker(sources Sources) *Checker {
	return &Checker{imports{set: token.NewFileSet(), sources: sources, known: map[string]*types.Package{}}}
}

// Typecheck checks the types in the files that were generated for the package of that path, as the compiler does.
// Contents are by name. Its error is what the compiler would say of them.
func (k *Checker) Typecheck(pkg string, generated map[string][]byte) (*Package, error) {
	p := &Package{Set: k.imports.set, Info: newInfo()}
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		f, err := parser.ParseFile(p.Set, name, generated[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("the generated code does not compile: %w", err)
		}
		p.Files = append(p.Files, f)
	}
	own, err := k.imports.parse(k.imports.sources[pkg])
	if err != nil {
		return nil, err
	}
	var faults []error
	c := types.Config{Importer: &k.imports, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			return
		}
		at := p.Set.Position(e.Pos)
		if content, ok := generated[at.Filename]; ok { // what is wrong elsewhere is the compiler's to say
			faults = append(faults, fmt.Errorf("%v: %s\n  %s", at, e.Msg, sourceLine(content, at.Line)))
		}
	}}
	_, _ = c.Check(pkg, p.Set, slices.Concat(own, p.Files), p.Info) // which tells Error
	if len(faults) > 0 {
		return nil, fmt.Errorf("the generated code does not compile: %w", faults[0])
	}
	return p, nil
}

func sourceLine(content []byte, n int) string {
	return strings.TrimSpace(strings.Split(string(content), "\n")[n-1])
}

// imports are packages whose declarations were read: those of Sources, and those of the standard library. Of others
// nothing is known.
type imports struct {
	set     *token.FileSet
	sources Sources
	known   map[string]*types.Package
}

// Import returns the package of that path.
func (i *imports) Import(name string) (*types.Package, error) {
	if p := i.known[name]; p != nil {
		return p, nil
	}
	p := types.NewPackage(name, path.Base(name))
	if files, err := i.files(name); err != nil {
		return nil, err
	} else if files != nil {
		parsed, err := i.parse(files)
		if err != nil {
			return nil, err
		}
		c := types.Config{Importer: i, Error: func(error) {}} // of what the package needs and is not known
		p, _ = c.Check(name, i.set, parsed, nil)
	}
	p.MarkComplete()
	i.known[name] = p
	return p, nil
}

// files returns the names of the files of a package; none if nothing is to be known of it.
func (i *imports) files(pkg string) (names []string, err error) {
	if pkg != "context" && pkg != "math/bits" {
		return i.sources[pkg], nil
	}
	from := build.Default
	if from.GOROOT, err = goroot(); err != nil {
		return nil, err
	}
	found, err := from.Import(pkg, "", 0)
	if err != nil {
		return nil, err
	}
	for _, name := range found.GoFiles {
		names = append(names, filepath.Join(found.Dir, name))
	}
	return names, nil
}

// goroot returns where the standard library is. A program that was built with -trimpath asks the go command.
var goroot = sync.OnceValues(func() (string, error) {
	if build.Default.GOROOT != "" {
		return build.Default.GOROOT, nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the standard library: go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// parse reads files without the bodies of functions.
func (i *imports) parse(names []string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(i.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
		files = append(files, f)
	}
	return files, nil
}
