package golang

import (
	"errors"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// parameter is a variable that a body starts with, and the field of the call that holds it.
type parameter struct{ name, field string }

var parameters = []parameter{
	{spec.Rank.Name, "Rank"}, {spec.Size.Name, "Size"}, {spec.Root.Name, "Root"}, {spec.Peer.Name, "Peer"},
	{spec.Depth.Name, "Depth"},
	{spec.Local.Name, "Local"},
}

// body prints what a generated algorithm does.
func body(a *gen.Algorithm) ([]jen.Code, error) {
	if a.Primitive.IsUneven() {
		if err := checkUneven(a); err != nil {
			return nil, located(a, err)
		}
	}
	list := lower(a.Body)
	_, used := prune(slices.Clone(list), variables(a.Chunks, a.Scratch))
	s := newScope(nil)
	code := locals(s, append(parameters[:len(parameters):len(parameters)], parameter{a.Param.Name, "Param"}), used,
		func(field string) jen.Code { return jen.Id("x").Dot(field) })
	layout, err := s.layout(a, declared(list))
	if err != nil {
		return nil, located(a, err)
	}
	last := jen.Return(jen.Nil())
	if endsInExchange(list) {
		list, last = withoutExchange(list), jen.Return(exchangeCall())
	}
	rest, err := s.list(list, false)
	if err != nil {
		return nil, located(a, err)
	}
	return slices.Concat(code, layout, rest, []jen.Code{last}), nil
}

// Validate reports everything that keeps the body of a from being printed: all names that cannot be those of variables
// or, where they can, the first other fault, as *Error.
func Validate(a *gen.Algorithm) error {
	var faults []error
	names := declared(lower(a.Body))
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			continue
		}
		if err := checkName(strings.TrimPrefix(name, bufName(""))); err != nil {
			faults = append(faults, located(a, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	_, err := body(a)
	return err
}

func exchangeCall() *jen.Statement { return jen.Id("x").Dot("Exchange").Call(jen.Id("ctx")) }

func located(a *gen.Algorithm, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Node: -1, Err: err}
	}
	e.Algorithm = a.FullName()
	return e
}

// locals declares those of list that are used: rank, size := x.Rank, x.Size.
func locals(s *scope, list []parameter, used []string, value func(field string) jen.Code) []jen.Code {
	var names, values []jen.Code
	for _, p := range list {
		if slices.Contains(used, p.name) {
			s.vars[p.name] = natural
			names = append(names, jen.Id(p.name))
			values = append(values, value(p.field))
		}
	}
	if names == nil {
		return nil
	}
	return []jen.Code{jen.List(names...).Op(":=").List(values...)}
}

// layout prints the call that cuts the blocks into chunks. A long number of slots gets a name, unless it is taken.
func (s *scope) layout(a *gen.Algorithm, taken []string) ([]jen.Code, error) {
	chunks, err := s.number(a.Chunks.OrElse(spec.Int(1)))
	if err != nil {
		return nil, err
	}
	scratch := a.Scratch.OrElse(spec.Int(0))
	slots, err := s.number(scratch)
	var code []jen.Code
	if len(scratch.String()) > 40 && !slices.Contains(taken, "slots") {
		code = append(code, jen.Id("slots").Op(":=").Add(slots))
		slots = jen.Id("slots")
	}
	return append(code, orReturn(jen.Id("x").Dot("Layout").Call(chunks, slots))), err
}

// orReturn calls call and returns its error, if there is one.
func orReturn(call jen.Code) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

// list prints statements into the block of s; loop says that it is the body of a loop.
func (s *scope) list(list []stmt, loop bool) ([]jen.Code, error) {
	list = s.inline(list)
	var code []jen.Code
	for i, st := range list {
		if loop && i == len(list)-1 && !hasActions(list[:i]) && s.isTail(st) {
			tail, err := s.tail(st)
			return append(code, tail...), err
		}
		c, err := s.statement(st)
		if err != nil {
			return nil, err
		}
		code = append(code, c...)
	}
	return code, nil
}

// inline puts what a Step lists into the block around it, except where a name that it declares has a meaning there.
func (s *scope) inline(list []stmt) []stmt {
	declared := letNames(list)
	var flat []stmt
	for _, st := range list {
		inner := letNames(st.body)
		if _, ok := st.node.(gen.Step); !ok || s.sees(inner) || intersect(declared, inner) {
			flat = append(flat, st)
			continue
		}
		declared = append(declared, inner...)
		flat = append(flat, st.body...)
	}
	return flat
}

// isTail reports whether a loop reads better if it continues early than with all of st in a condition.
func (s *scope) isTail(st stmt) bool {
	_, ok := st.node.(gen.If)
	return ok && len(st.otherwise) == 0 && weight(st.body) > 3 && !s.sees(letNames(st.body))
}

// weight returns the number of statements in list and inside them.
func weight(list []stmt) int {
	n := len(list)
	for _, st := range list {
		n += weight(st.body) + weight(st.otherwise)
	}
	return n
}

func (s *scope) tail(st stmt) ([]jen.Code, error) {
	stop, err := s.truth(spec.Not(st.node.(gen.If).Cond))
	if err != nil {
		return nil, err
	}
	rest, err := s.list(st.body, true)
	return append([]jen.Code{jen.If(stop).Block(jen.Continue())}, rest...), err
}

func (s *scope) statement(st stmt) ([]jen.Code, error) {
	switch n := st.node.(type) {
	case gen.For:
		return s.loop(n, st)
	case gen.If:
		code, err := s.branch(n, st)
		return []jen.Code{code}, err
	case gen.Step:
		code, err := newScope(s).list(st.body, false)
		return []jen.Code{jen.Block(code...)}, err
	case gen.Let:
		return s.let(n.Name, n.Is)
	case gen.LetBuf:
		return s.letBuf(n)
	case gen.Fold:
		return s.fold(n, st)
	case exchange:
		return []jen.Code{orReturn(exchangeCall())}, nil
	}
	code, err := s.action(st.node)
	if err != nil {
		err = &Error{Node: st.index, Err: err}
	}
	return code, err
}

func (s *scope) loop(n gen.For, st stmt) ([]jen.Code, error) {
	times, err := s.number(n.N)
	if err != nil {
		return nil, err
	}
	inner, head, err := s.turns(n.Var, times, st.usesVar)
	if err != nil {
		return nil, err
	}
	code, err := inner.list(st.body, true)
	return []jen.Code{head.Block(code...)}, err
}

// turns returns the scope of a loop's body, and its head, with the variable if that is used.
func (s *scope) turns(name string, times jen.Code, usesVar bool) (*scope, *jen.Statement, error) {
	inner := newScope(s)
	if !usesVar {
		return inner, jen.For(jen.Range().Add(times)), nil
	}
	return inner, jen.For(jen.Id(name).Op(":=").Range().Add(times)), inner.declare(name, natural)
}

func (s *scope) branch(n gen.If, st stmt) (*jen.Statement, error) {
	cond, then, otherwise := n.Cond, st.body, st.otherwise
	if len(then) == 0 {
		cond, then, otherwise = spec.Not(cond), otherwise, nil
	}
	c, err := s.truth(cond)
	if err != nil {
		return nil, err
	}
	code, err := newScope(s).list(then, false)
	if err != nil {
		return nil, err
	}
	head := jen.If(c).Block(code...)
	if len(otherwise) == 0 {
		return head, nil
	}
	if inner, ok := otherwise[0].node.(gen.If); ok && len(otherwise) == 1 {
		code, err := newScope(s).branch(inner, otherwise[0])
		return head.Else().Add(code), err
	}
	code, err = newScope(s).list(otherwise, false)
	return head.Else().Block(code...), err
}
