package readback

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

func newInfo() *types.Info {
	return &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
}

// Check reads what was generated for a primitive and compares it with what it was generated from: its line in the table
// of collectives, those of its algorithms, their rules, and what the function of each algorithm does. The functions
// that programs call it does not read. Its errors are *Error.
func (p *Package) Check(c Collective) error {
	table, err := p.table(c.Primitive.Name)
	if err == nil {
		err = table.compare(c)
	}
	if err != nil {
		return &Error{Err: err}
	}
	for i, a := range c.Algorithms {
		if err := p.algorithm(&table.algorithms[i], &a); err != nil {
			return &Error{a.FullName(), err}
		}
	}
	return nil
}

// algorithm compares an algorithm with its line of the table, and with its function.
func (p *Package) algorithm(got *entry, a *Declared) error {
	if want := entryOf(a); got.plain != want {
		return fmt.Errorf("its line in the table is %+v, want %+v", got.plain, want)
	}
	if got.proved != a.Proved {
		return fmt.Errorf("the table says that it is proved for %+v, want %+v", got.proved, a.Proved)
	}
	t := newTerms()
	if err := p.serves(t, got.serves, a.Requires.Size); err != nil {
		return err
	}
	fn := p.function(got.run)
	if fn == nil {
		return fmt.Errorf("the generated code has no function for it")
	}
	return p.compare(t, fn, &a.Algorithm)
}

// compare compares a function with an algorithm.
func (p *Package) compare(t *terms, fn *ast.FuncDecl, a *gen.Algorithm) error {
	want, err := meaningOf(t, a)
	if err != nil {
		return err
	}
	got, err := read(t, p.Set, p.Info, fn)
	if err != nil {
		return err
	}
	return t.difference(got, want)
}

// function returns the declaration of a function; nil if there is none.
func (p *Package) function(o types.Object) *ast.FuncDecl {
	for _, f := range p.Files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && o != nil && p.Info.Defs[fn.Name] == o {
				return fn
			}
		}
	}
	return nil
}

// serves compares the condition under which an algorithm serves a number of ranks.
func (p *Package) serves(t *terms, f *ast.FuncLit, size spec.Expr) (err error) {
	defer rescue(&err)
	if f == nil || size.IsAbsent() {
		if f != nil || !size.IsAbsent() {
			return fmt.Errorf("a condition on sizes is stated: %t, want %t", f != nil, !size.IsAbsent())
		}
		return nil
	}
	r := &reader{terms: t, set: p.Set, info: p.Info, vars: map[types.Object]term{}}
	params := f.Type.Params.List
	r.expect(len(params) == 1 && len(params[0].Names) == 2 && len(f.Body.List) == 1, f, "a function of such a form")
	for i, name := range []string{spec.Size.Name, spec.Local.Name} {
		r.vars[p.Info.Defs[params[0].Names[i]]] = t.name(name)
	}
	ret, ok := f.Body.List[0].(*ast.ReturnStmt)
	r.expect(ok && len(ret.Results) == 1, f, "a function of such a form")
	if got, want := r.truthOf(ret.Results[0]), newMeaning(t).holds(size); got != want {
		return fmt.Errorf("it serves sizes with %s, want %s", t.text(got), t.text(want))
	}
	return nil
}
