package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/internal/gomutants"
	"golang.org/x/tools/go/packages"
)

// patch is a mutant of source code: it replaces a range of a file by another text.
type patch struct {
	file     string // below the module's root
	function string // that contains it; "": none
	nth      int    // counts the patches that String calls the same, from 1
	from, to int    // bytes of the file
	text     string
	operator string
	was      string
}

func (p patch) String() string {
	return fmt.Sprintf("%s, %s: `%s` for `%s`", p.file, p.function, oneLine(p.text, codeLength),
		oneLine(p.was, codeLength))
}

// key returns a name for the mutant that survives most changes of its file.
func (p patch) key() string {
	if p.nth < 2 {
		return p.String()
	}
	return fmt.Sprintf("%v, no. %d", p, p.nth)
}

const codeLength = 58

// oneLine returns s on one line, cut to about most characters.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most+2 {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// sourceMutants returns all patches of a package of this module, except of its tests and generated files.
//
// They are texts, one for each build, and not made by a gomutants.Planter: a wrong constant, type or nil need not
// compile, and a mutant may take all memory or never end.
func sourceMutants(root, pkg string) ([]patch, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedFiles | packages.NeedName,
		Dir:  root,
	}, "./"+pkg)
	if err != nil {
		return nil, err
	}
	var all []patch
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		for _, f := range p.Syntax {
			if ast.IsGenerated(f) {
				continue
			}
			name := p.Fset.Position(f.Pos()).Filename
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			short, err := filepath.Rel(root, name)
			if err != nil {
				return nil, err
			}
			m := &mutator{fset: p.Fset, info: p.TypesInfo, text: text, file: short}
			for _, d := range f.Decls {
				m.function = ""
				if fn, ok := d.(*ast.FuncDecl); ok {
					m.function = fn.Name.Name
				}
				ast.Inspect(d, m.visit)
			}
			all = append(all, m.all...)
		}
	}
	slices.SortFunc(all, func(a, b patch) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.from, b.from), strings.Compare(a.text, b.text))
	})
	seen := map[string]int{}
	for i := range all {
		name := all[i].String()
		seen[name]++
		all[i].nth = seen[name]
	}
	return all, nil
}

// mutator collects the patches of one file.
type mutator struct {
	fset     *token.FileSet
	info     *types.Info
	text     []byte
	file     string
	function string
	all      []patch
}

// put adds a patch that replaces the code between two positions.
func (m *mutator) put(operator string, from, to token.Pos, text string) {
	start, end := m.fset.Position(from), m.fset.Position(to)
	m.all = append(m.all, patch{m.file, m.function, 0, start.Offset, end.Offset, text, operator,
		string(m.text[start.Offset:end.Offset])})
}

// of returns the source of a node.
func (m *mutator) of(n ast.Node) string {
	return string(m.text[m.fset.Position(n.Pos()).Offset:m.fset.Position(n.End()).Offset])
}

// visit adds the patches of one node. It reports whether its children are to be visited.
func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR || n.Tok == token.CONST
	case *ast.BinaryExpr:
		if m.isNumberOrTruth(n) {
			m.operator(n.OpPos, n.Op, m.info.Types[n.X].Type)
		}
	case *ast.IncDecStmt:
		m.operator(n.TokPos, n.Tok, m.info.Types[n.X].Type)
	case *ast.TypeSwitchStmt:
		ast.Inspect(n.Body, m.visit)
		return false
	case *ast.AssignStmt:
		if m.isNumberOrTruth(n.Lhs[0]) {
			m.operator(n.TokPos, n.Tok, m.info.Types[n.Lhs[0]].Type)
		}
		if n.Tok != token.DEFINE {
			m.put("left out", n.Pos(), n.End(), "{}")
		}
	case *ast.ExprStmt:
		m.put("left out", n.Pos(), n.End(), "{}")
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
			m.put("left out", n.Pos(), n.End(), "{}")
		}
	case *ast.IfStmt:
		m.put("the opposite", n.Cond.Pos(), n.Cond.End(), "!("+m.of(n.Cond)+")")
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); err == nil {
			m.put("one more", n.Pos(), n.End(), strconv.Itoa(v+1))
		}
	case *ast.Ident:
		if o := m.info.Uses[n]; o != nil && o.Parent() == types.Universe {
			if other := gomutants.OtherWord[n.Name]; other != "" {
				m.put("another word", n.Pos(), n.End(), other)
			}
		}
	case *ast.ReturnStmt:
		for _, x := range n.Results {
			m.result(x)
		}
	}
	return true
}

// operator adds the other operators for one whose left operand has type of.
func (m *mutator) operator(at token.Pos, was token.Token, of types.Type) {
	for _, is := range gomutants.OtherOperators[was] {
		if basic, ok := of.Underlying().(*types.Basic); is == token.LSS && (!ok || basic.Info()&types.IsOrdered == 0) {
			continue // the compiler would refuse it
		}
		m.put("another operator", at, at+token.Pos(len(was.String())), is.String())
	}
}

// isNumberOrTruth reports whether an expression is a number or a boolean that is computed at run time. Strings have
// only one operator, and constants are mutated at their literals.
func (m *mutator) isNumberOrTruth(e ast.Expr) bool {
	t, ok := m.info.Types[e]
	if !ok || t.Value != nil && t.Value.Kind() != constant.Bool {
		return false
	}
	basic, ok := t.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// result adds patches that return another value instead of x.
func (m *mutator) result(x ast.Expr) {
	t, ok := m.info.Types[x]
	if !ok || t.IsNil() || m.of(x) == "0" {
		return
	}
	switch u := t.Type.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Value != nil:
		case u.Info()&types.IsBoolean != 0:
			m.put("the opposite", x.Pos(), x.End(), "!("+m.of(x)+")")
		case u.Info()&types.IsInteger != 0:
			m.put("zero", x.Pos(), x.End(), "0*("+m.of(x)+")")
		}
	case *types.Interface, *types.Pointer, *types.Slice, *types.Map:
		m.put("nothing", x.Pos(), x.End(), "nil")
	}
}
