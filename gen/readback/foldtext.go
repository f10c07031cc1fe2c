package readback

import (
	"go/ast"
	"go/token"
	"go/types"
)

// nextOf returns the statement at the end of a fold's loop that sets its numbers anew: a, b = x, y, or that in a
// condition. It is nil in a loop that ends in another way.
func nextOf(s *ast.RangeStmt) ast.Stmt {
	if len(s.Body.List) == 0 {
		return nil
	}
	last := s.Body.List[len(s.Body.List)-1]
	if assignmentIn(last) == nil {
		return nil
	}
	return last
}

// assignmentIn returns the assignment that s is, or that is all of what s does if a condition holds; nil if s is
// something else.
func assignmentIn(s ast.Stmt) *ast.AssignStmt {
	if f, ok := s.(*ast.IfStmt); ok && f.Init == nil && f.Else == nil && len(f.Body.List) == 1 {
		s = f.Body.List[0]
	}
	if a, ok := s.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
		return a
	}
	return nil
}

// fold reads a loop in which nothing but numbers changes, all at once at its end: those declared in the block around
// it.
func (r *reader) fold(s *ast.RangeStmt, next ast.Stmt, local map[types.Object]bool) {
	turns, assign := r.turns(s), assignmentIn(next)
	var list []state
	var objects []types.Object
	declared := map[types.Object]bool{}
	for _, e := range assign.Lhs {
		id, ok := e.(*ast.Ident)
		r.expect(ok && local[r.info.Uses[id]] && !declared[r.info.Uses[id]], e, "an assignment to such a variable")
		o := r.info.Uses[id]
		r.expect(isInt(o.Type()), e, "a fold of what is no int")
		declared[o] = true
		objects, list = append(objects, o), append(list, state{name: o.Name(), first: r.vars[o]})
		r.vars[o] = stateOf(r.terms, o.Name(), r.loops)
	}
	r.loops++
	inner := map[types.Object]bool{}
	for _, st := range s.Body.List[:len(s.Body.List)-1] {
		r.expect(len(r.statement(st, inner)) == 0, st, "a statement in the loop of a fold")
	}
	when := r.truth(true)
	if f, ok := next.(*ast.IfStmt); ok {
		when = r.truthOf(f.Cond)
	}
	values := r.values(assign, objects)
	r.loops--
	for i, o := range objects {
		list[i].next = r.choice(when, values[i], r.vars[o])
	}
	for _, o := range objects {
		r.vars[o] = r.afterTurns(o.Name(), turns, list, r.loops)
	}
}

// values returns what an assignment sets variables to.
func (r *reader) values(s *ast.AssignStmt, objects []types.Object) (values []term) {
	r.expect(len(s.Lhs) == len(s.Rhs), s, "such an assignment")
	if s.Tok != token.ASSIGN {
		return []term{r.changed(s, objects[0])}
	}
	for _, e := range s.Rhs {
		values = append(values, r.number(e))
	}
	return values
}
