package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// What has to be compiled to evaluate a few variables is often far less than their package, in which calls of functions
// may stand that are not generated yet. So everything that these variables do not depend on is blanked out: positions
// in the rest stay as they are.

// unit is what is needed as a whole, or not at all: a function, a type, the variables of one line, a group of
// constants.
type unit struct {
	node ast.Node
	from token.Pos // where it begins, its comment included
}

// closure finds the units that are needed.
type closure struct {
	pkg     *packages.Package
	units   map[types.Object]*unit
	methods map[types.Object][]*unit // by the type's name
	needed  map[*unit]bool
}

func newClosure(pkg *packages.Package) *closure {
	c := &closure{pkg: pkg, units: map[types.Object]*unit{}, methods: map[types.Object][]*unit{}, needed: map[*unit]bool{}}
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			c.index(d)
		}
	}
	return c
}

// index notes what d declares.
func (c *closure) index(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		u := &unit{d, begin(d.Doc, d.Pos())}
		c.define(u, d.Name)
		if d.Recv != nil {
			c.indexMethod(u, d)
		}
	case *ast.GenDecl:
		if d.Tok == token.CONST {
			u := &unit{d, begin(d.Doc, d.Pos())}
			for _, s := range d.Specs {
				c.define(u, s.(*ast.ValueSpec).Names...)
			}
			return
		}
		for _, s := range d.Specs {
			c.indexSpec(d, s)
		}
	}
}

// indexSpec notes one line of a declaration of variables or types.
func (c *closure) indexSpec(d *ast.GenDecl, s ast.Spec) {
	u := &unit{node: s}
	switch s := s.(type) {
	case *ast.TypeSpec:
		u.from = begin(s.Doc, s.Pos())
		c.define(u, s.Name)
	case *ast.ValueSpec:
		u.from = begin(s.Doc, s.Pos())
		c.define(u, s.Names...)
	}
	if !d.Lparen.IsValid() {
		u.node, u.from = d, begin(d.Doc, d.Pos())
	}
}

func (c *closure) indexMethod(u *unit, d *ast.FuncDecl) {
	if f, ok := c.pkg.TypesInfo.Defs[d.Name].(*types.Func); ok {
		t := f.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			c.methods[n.Obj()] = append(c.methods[n.Obj()], u)
		}
	}
}

func begin(doc *ast.CommentGroup, pos token.Pos) token.Pos {
	if doc != nil {
		return doc.Pos()
	}
	return pos
}

func (c *closure) define(u *unit, names ...*ast.Ident) {
	for _, name := range names {
		if o := c.pkg.TypesInfo.Defs[name]; o != nil {
			c.units[o] = u
		}
	}
}

// need adds what declares o, and everything that this depends on. A type needs its methods.
func (c *closure) need(o types.Object) {
	for _, u := range append(slices.Clone(c.methods[o]), c.units[o]) {
		if u == nil || c.needed[u] {
			continue
		}
		c.needed[u] = true
		for _, used := range c.uses(u) {
			c.need(used)
		}
	}
}

// uses returns the objects that u speaks of, those of a group of constants included.
func (c *closure) uses(u *unit) []types.Object {
	var used []types.Object
	ast.Inspect(u.node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := c.pkg.TypesInfo.Uses[id]; o != nil {
				used = append(used, origin(o))
			}
		}
		return true
	})
	return used
}

// origin returns what a generic function's or method's instance was made from.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}

// reduce returns the content of a file with nothing in it but what is needed, as part of package main.
func (c *closure) reduce(f *ast.File, content []byte) []byte {
	b := blanker{file: c.pkg.Fset.File(f.FileStart), content: slices.Clone(content)}
	used := map[types.Object]bool{}
	for _, d := range f.Decls {
		for _, u := range c.unitsOf(d) {
			if !c.needed[u] {
				b.blank(u.from, u.node.End())
				continue
			}
			for _, o := range c.uses(u) {
				used[o] = true
			}
		}
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			c.reduceImports(g, used, b)
		}
	}
	from, to := b.file.Offset(f.Name.Pos()), b.file.Offset(f.Name.End())
	return slices.Concat(b.content[:from], []byte("main"), b.content[to:])
}

// unitsOf returns the units of one declaration.
func (c *closure) unitsOf(d ast.Decl) []*unit {
	var units []*unit
	add := func(names ...*ast.Ident) {
		for _, name := range names {
			u := c.units[c.pkg.TypesInfo.Defs[name]]
			if u == nil { // init, or a blank name
				u = &unit{d, begin(nil, d.Pos())}
			}
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		add(d.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				add(s.Names...)
			}
		}
	}
	return units
}

// reduceImports blanks the imports that nothing used needs.
func (c *closure) reduceImports(g *ast.GenDecl, used map[types.Object]bool, b blanker) {
	for _, s := range g.Specs {
		switch s := s.(*ast.ImportSpec); {
		case c.isUsed(s, used):
		case g.Lparen.IsValid():
			b.blank(s.Pos(), s.End())
		default:
			b.blank(g.Pos(), g.End())
		}
	}
}

// isUsed reports whether an import is needed. One without a name, which is there for what it does, always is.
func (c *closure) isUsed(s *ast.ImportSpec, used map[types.Object]bool) bool {
	o := c.pkg.TypesInfo.Implicits[s]
	if s.Name != nil {
		o = c.pkg.TypesInfo.Defs[s.Name]
	}
	name, ok := o.(*types.PkgName)
	if !ok || used[o] || name.Name() == "_" {
		return true
	}
	if name.Name() == "." {
		for u := range used {
			if u.Pkg() == name.Imported() {
				return true
			}
		}
	}
	return false
}

// blanker replaces parts of a file by spaces.
type blanker struct {
	file    *token.File
	content []byte
}

func (b blanker) blank(from, to token.Pos) {
	part := b.content[b.file.Offset(from):b.file.Offset(to)]
	for i := range part {
		if part[i] != '\n' {
			part[i] = ' '
		}
	}
}
