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

// patch is a mutant of source code: a stretch of a file, and what stands there instead.
type patch struct {
	file     string // below the module's root
	function string // that it stands in; "": none
	nth      int    // which of those of one name it is, from 1 on
	from, to int    // bytes of the file
	text     string
	operator string
	was      string
}

func (p patch) String() string {
	return fmt.Sprintf("%s, %s: `%s` for `%s`", p.file, p.function, oneLine(p.text, codeLength), oneLine(p.was, codeLength))
}

// key names a mutant for as long as its function stays about what it is.
func (p patch) key() string {
	if p.nth < 2 {
		return p.String()
	}
	return fmt.Sprintf("%v, no. %d", p, p.nth)
}

const codeLength = 58

// oneLine returns s without line breaks, and with at most so many characters.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most+2 {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// sourceMutants returns all edits of a package of this module, its tests and what is generated left out.
func sourceMutants(root, pkg string) ([]patch, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedFiles | packages.NeedName, Dir: root,
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

// mutator collects the edits of one file.
type mutator struct {
	fset     *token.FileSet
	info     *types.Info
	text     []byte
	file     string
	function string
	all      []patch
}

// put is an edit that has text stand where the nodes from one to another stand.
func (m *mutator) put(operator string, from, to token.Pos, text string) {
	start, end := m.fset.Position(from), m.fset.Position(to)
	m.all = append(m.all, patch{m.file, m.function, 0, start.Offset, end.Offset, text, operator, string(m.text[start.Offset:end.Offset])})
}

func (m *mutator) of(n ast.Node) string {
	return string(m.text[m.fset.Position(n.Pos()).Offset:m.fset.Position(n.End()).Offset])
}

// further are the operators that stand for another by mistake, besides those of gomutants.WrongOperator.
var further = map[token.Token]token.Token{
	token.LSS: token.GEQ, token.LEQ: token.GTR, token.GTR: token.LEQ, token.GEQ: token.LSS, token.REM: token.QUO,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// visit adds the edits of one node.
func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR || n.Tok == token.CONST
	case *ast.BinaryExpr:
		if m.isNumberOrTruth(n) {
			m.operator(n.OpPos, n.Op)
		}
	case *ast.IncDecStmt:
		m.operator(n.TokPos, n.Tok)
	case *ast.TypeSwitchStmt:
		ast.Inspect(n.Body, m.visit)
		return false
	case *ast.AssignStmt:
		if m.isNumberOrTruth(n.Lhs[0]) {
			m.operator(n.TokPos, n.Tok)
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
			m.word(n)
		}
	case *ast.ReturnStmt:
		for _, x := range n.Results {
			m.result(x)
		}
	}
	return true
}

func (m *mutator) operator(at token.Pos, was token.Token) {
	for _, is := range []token.Token{gomutants.WrongOperator[was], further[was]} {
		if is != token.ILLEGAL {
			m.put("another operator", at, at+token.Pos(len(was.String())), is.String())
		}
	}
}

// isNumberOrTruth reports whether an expression computes something that operators can be exchanged in: strings have
// only one, and what the compiler knows already is mutated where its literals are.
func (m *mutator) isNumberOrTruth(e ast.Expr) bool {
	t, ok := m.info.Types[e]
	if !ok || t.Value != nil && t.Value.Kind() != constant.Bool {
		return false
	}
	basic, ok := t.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// word exchanges true with false, and min with max.
func (m *mutator) word(n *ast.Ident) {
	others := map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}
	if other, ok := others[n.Name]; ok {
		m.put("another word", n.Pos(), n.End(), other)
	}
}

// result returns something else.
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
