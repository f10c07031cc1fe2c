package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/view"
	"github.com/collgen/collgen/verify/view/picture"
	"github.com/collgen/collgen/verify/view/viewer"
)

// siteSizes are the numbers of ranks that are tried where an algorithm does not serve the one that is asked for.
var siteSizes = []int{4, 8, 6, 5, 3, 2}

// writeSite writes a page for each algorithm, and an index of them, into the folder that the command line names.
func (c *viewCommand) writeSite(ctx context.Context, s *source) error {
	if c.out == "" {
		return usageError{errors.New("-all wants -o with a folder")}
	}
	found, err := s.match(c.arg(""))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o777); err != nil {
		return err
	}
	code := s.generatedCode(ctx)
	site := &viewer.Site{Ranks: c.sizes.from}
	for i, a := range found {
		c.progress.Update("%s: page %d of %d", a.FullName(), i+1, len(found))
		entry, err := c.writeEntry(ctx, s, a, code[a.FullName()])
		if err != nil {
			return fmt.Errorf("%s: %w", a.FullName(), err)
		}
		n := len(site.Primitives)
		if n == 0 || site.Primitives[n-1].Name != a.Primitive.Name {
			site.Primitives, n = append(site.Primitives, newSitePrimitive(a.Primitive)), n+1
		}
		site.Primitives[n-1].Algorithms = append(site.Primitives[n-1].Algorithms, *entry)
	}
	err = writeTo(filepath.Join(c.out, "index.html"), func(w io.Writer) error { return viewer.WriteSite(w, site) })
	if err == nil {
		fmt.Fprintf(c.stdout, "%d algorithms of %d primitives: %s\n", len(found), len(site.Primitives),
			filepath.Join(c.out, "index.html"))
	}
	return err
}

func newSitePrimitive(p spec.Primitive) viewer.SitePrimitive {
	x := viewer.SitePrimitive{Name: p.Name, Doc: p.Doc, Promises: spec.Describe(p).After}
	if b, _, ok := catalogue.LowerBound(p); ok {
		x.Bound = &viewer.SiteCost{Alpha: text.Formula(b.Alpha), Beta: text.Formula(b.Beta), Gamma: text.Formula(b.Gamma),
			Chunks: text.Formula(b.Chunks)}
	}
	return x
}

// writeEntry writes the page and the picture of an algorithm, and returns what the index says of it.
func (c *viewCommand) writeEntry(ctx context.Context, s *source, a *algorithm, code string) (*viewer.SiteAlgorithm,
	error) {
	call := *c
	if err := call.choose(a); err != nil {
		return nil, err
	}
	p, err := call.params(a)
	if err != nil {
		return nil, err
	}
	d, err := c.dataOf(ctx, s, a, p, c.inPlace)
	if err != nil {
		return nil, err
	}
	d.Go = code
	name := strings.ReplaceAll(a.FullName(), "/", "-")
	file := filepath.Join(c.out, name)
	err = writeTo(file+".html", func(w io.Writer) error { return viewer.Write(w, d, c.verifier) })
	if err == nil {
		err = writeTo(file+".svg", func(w io.Writer) error {
			drawn, err := picture.SVG(d)
			if err == nil {
				_, err = io.WriteString(w, drawn)
			}
			return err
		})
	}
	f := text.CostOf(&a.Algorithm)
	return &viewer.SiteAlgorithm{Name: a.FullName(), File: name, Call: d.Call, Doc: a.Doc, Source: a.Source,
		Requires: text.Requirements(a.Requires), Proved: provedWords(a, d),
		SiteCost: viewer.SiteCost{Alpha: f.Alpha, Beta: f.Beta, Gamma: f.Gamma, Chunks: f.Chunks}}, err
}

// choose picks a number of ranks that a serves: the one that is asked for if it can be, and no more than a picture has
// room for.
func (c *viewCommand) choose(a *algorithm) error {
	for _, n := range append([]int{min(c.sizes.from, picture.MostRanks)}, siteSizes...) {
		c.sizes = sizeRange{n, n}
		if c.root, c.peer = min(c.root, n-1), min(c.peer, n-1); a.Serves(n, c.localOf(a)) {
			return nil
		}
	}
	return fmt.Errorf("it serves none of %v ranks", siteSizes)
}

// provedWords says what was proved of a.
func provedWords(a *algorithm, d *view.Data) string {
	if d.Failure != nil {
		return "refuted: " + d.Failure.Meaning
	}
	words := "for " + d.Call + " just now"
	if a.every.Sizes != "" {
		words += fmt.Sprintf("; by induction for every number of ranks (%s), %d obligations, by %s", a.every.Sizes,
			a.every.Obligations, strings.Join(a.every.Solvers, " and by "))
	}
	return words
}

// generatedCode returns the generated functions of algorithms, by full name; none where there are no files.
func (s *source) generatedCode(ctx context.Context) map[string]string {
	code := map[string]string{}
	files, err := generatedFiles(s.generatedDir(ctx))
	if err != nil {
		return code
	}
	for name, content := range files {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, content, parser.ParseComments)
		if err != nil {
			continue // what is broken says nothing
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := set.Position(fn.Pos()).Offset, set.Position(fn.End()).Offset
			if fn.Doc != nil {
				from = set.Position(fn.Doc.Pos()).Offset
			}
			for _, algorithm := range namesIn(fn.Doc.Text()) {
				code[algorithm] = "// " + filepath.Base(name) + "\n\n" + string(content[from:to]) + "\n"
			}
		}
	}
	return code
}

// namesIn returns the full names of the algorithms that the comment of a generated function says it is.
func namesIn(doc string) (names []string) {
	for _, part := range recordsIn(doc) {
		if m := recordedName.FindStringSubmatch(part); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

// writeTo writes a file.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
