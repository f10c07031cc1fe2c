package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// RankBranch finds collectives that some ranks of a communicator make and others do not.
var RankBranch = &analysis.Analyzer{
	Name: "rankbranch",
	Doc: `find collectives that only some ranks make

All ranks of a communicator make the same collectives in the same order. A
collective under "if c.Rank() == 0", or after a return for some ranks, without
its like for the other ranks leaves one of them waiting. Sends and receives,
and collectives on another communicator, are not meant.`,
	URL: url,
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			b := branches{pass, ranksOf(pass.TypesInfo, file)}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BlockStmt:
					b.list(n.List)
				case *ast.CaseClause:
					b.list(n.Body)
				case *ast.CommClause:
					b.list(n.Body)
				}
				return true
			})
		}
		return nil, nil
	},
}

// branches compares what ranks do in different branches.
type branches struct {
	pass  *analysis.Pass
	ranks ranks
}

// list checks the statements of one list that branch by rank.
func (b *branches) list(list []ast.Stmt) {
	for i, s := range list {
		rest := list[i+1:]
		switch s := s.(type) {
		case *ast.IfStmt:
			if comm := b.ranks.in(s.Cond); comm != nil {
				b.compare(comm, rest, s.Body.List, elseOf(s))
			}
		case *ast.SwitchStmt:
			if comm, bodies := b.cases(s); comm != nil {
				b.compare(comm, rest, bodies...)
			}
		}
	}
}

// elseOf returns the statements that are executed if the condition is false.
func elseOf(s *ast.IfStmt) []ast.Stmt {
	switch s := s.Else.(type) {
	case *ast.BlockStmt:
		return s.List
	case *ast.IfStmt:
		return []ast.Stmt{s}
	}
	return nil
}

// cases returns the communicator on whose rank a switch depends, and the lists of its cases, of which one is executed.
func (b *branches) cases(s *ast.SwitchStmt) (comm types.Object, bodies [][]ast.Stmt) {
	comm = b.ranks.in(s.Tag)
	hasDefault := false
	for _, clause := range s.Body.List {
		clause := clause.(*ast.CaseClause)
		bodies = append(bodies, clause.Body)
		hasDefault = hasDefault || clause.List == nil
		for _, e := range clause.List {
			if comm == nil {
				comm = b.ranks.in(e)
			}
		}
	}
	if !hasDefault {
		bodies = append(bodies, nil)
	}
	return comm, bodies
}

// compare reports collectives on comm in one of the bodies that another one does not have. A body that ends by leaving
// the list does not go on with the rest.
func (b *branches) compare(comm types.Object, rest []ast.Stmt, bodies ...[]ast.Stmt) {
	var made [][]call
	anyLeaves := slices.ContainsFunc(bodies, b.leaves)
	for _, body := range bodies {
		if b.fails(body) {
			continue // a rank that returns an error ends its part in all calls
		}
		if anyLeaves && !b.leaves(body) {
			body = slices.Concat(body, rest)
		}
		made = append(made, b.on(comm, body))
	}
	reported := map[token.Pos]bool{}
	for i := range made {
		for j := range made {
			for _, c := range without(made[i], made[j]) {
				if !reported[c.Pos()] {
					reported[c.Pos()] = true
					b.pass.Reportf(c.Pos(), "only some ranks of %s call %s: the others do not come to it", comm.Name(), c.fn.Name())
				}
			}
		}
	}
}

// on returns the collectives on comm.
func (b *branches) on(comm types.Object, body []ast.Stmt) []call {
	var nodes []ast.Node
	for _, s := range body {
		nodes = append(nodes, s)
	}
	return slices.DeleteFunc(collectives(b.pass.TypesInfo, nodes...), func(c call) bool { return c.comm != comm })
}

// without returns the calls of some, in order, whose like others do not have as often.
func without(some, others []call) (missing []call) {
	left := map[string]int{}
	for _, c := range others {
		left[c.primitive()]++
	}
	for _, c := range some {
		if left[c.primitive()]--; left[c.primitive()] < 0 {
			missing = append(missing, c)
		}
	}
	return missing
}

// leaves reports whether the last statement of body leaves the list that it is in.
func (b *branches) leaves(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch s := body[len(body)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	}
	return false
}

// fails reports whether body ends by returning an error, or by a panic.
func (b *branches) fails(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch s := body[len(body)-1].(type) {
	case *ast.ReturnStmt:
		if len(s.Results) == 0 {
			return false
		}
		last := s.Results[len(s.Results)-1]
		if c, ok := callOf(b.pass.TypesInfo, last); ok {
			return c.message // return fast.Broadcast(…) is part of what the ranks do
		}
		t := b.pass.TypesInfo.TypeOf(last)
		return t != nil && types.Implements(t, errorType) && !b.pass.TypesInfo.Types[last].IsNil()
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := c.Fun.(*ast.Ident)
		return ok && name.Name == "panic"
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
