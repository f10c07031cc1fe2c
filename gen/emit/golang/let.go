package golang

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// arm is a value that a variable gets, and when.
type arm struct{ when, is spec.Expr }

// choice is a conditional as Go writes it: a variable is set to base, and then, by the first arm that holds, anew.
type choice struct {
	name string
	base spec.Expr // absent: one of the arms holds, and the last one needs no condition
	arms []arm
	kind kind // number or truth
}

// let prints the declaration of name as e.
func (s *scope) let(name string, e spec.Expr) ([]jen.Code, error) {
	if isConditional(e) {
		return s.choose(s.newChoice(name, e))
	}
	value, err := s.expr(e)
	if err != nil {
		return nil, err
	}
	return []jen.Code{jen.Id(name).Op(":=").Add(value.code)}, s.declare(name, value.kind())
}

// newChoice starts from the last of e's values, or from that of two which the other one goes on from (x, in the
// wrap-around from x to x - n). It starts from nothing where evaluating a value that is not needed could fail.
func (s *scope) newChoice(name string, e spec.Expr) choice {
	c := choice{name: name, base: e}
	for isConditional(c.base) {
		c.arms = append(c.arms, arm{c.base.Args[0], c.base.Args[1]})
		c.base = c.base.Args[2]
	}
	if first := c.arms[0]; len(c.arms) == 1 && s.isTotal(first.is) && (!s.isTotal(c.base) || isChange(c.base, first.is)) {
		c.arms[0], c.base = arm{spec.Not(first.when), c.base}, first.is
	}
	if !s.isTotal(c.base) {
		c.arms, c.base = append(c.arms, arm{spec.Int(1), c.base}), spec.Expr{}
	}
	return c
}

func isConditional(e spec.Expr) bool { return e.Kind == spec.CondExpr && !isCeiling(e) }

// isTotal reports whether e has a value in Go for all values of its variables: a shift by a negative number has none,
// nor has a division by 0.
func (s *scope) isTotal(e spec.Expr) bool {
	if (e.Kind == spec.ShlExpr || e.Kind == spec.ShrExpr) && !s.isNatural(e.Args[1]) {
		return false
	}
	if isDivision(e) && !s.isPositive(e.Args[1]) {
		return false
	}
	return !slices.ContainsFunc(e.Args, func(arg spec.Expr) bool { return !s.isTotal(arg) })
}

// isChange reports whether e is from, and something added or subtracted.
func isChange(e, from spec.Expr) bool {
	return (e.Kind == spec.AddExpr || e.Kind == spec.SubExpr) && same(e.Args[0], from)
}

// choose prints c: name := base; if when { name = is }.
func (s *scope) choose(c choice) ([]jen.Code, error) {
	if err := s.inferType(&c); err != nil {
		return nil, err
	}
	assignments, err := s.assignments(c)
	if err != nil {
		return nil, err
	}
	first := jen.Var().Id(c.name).Add(jen.Int())
	if c.kind == truth {
		first = jen.Var().Id(c.name).Add(jen.Bool())
	}
	if !c.base.IsAbsent() {
		base, err := s.typed(c.base, c.kind)
		if err != nil {
			return nil, err
		}
		first = jen.Id(c.name).Op(":=").Add(base)
	}
	if err := s.declare(c.name, c.kind); err != nil {
		return nil, err
	}
	code, err := s.chain(c, assignments)
	return []jen.Code{first, code}, err
}

// inferType finds out whether c chooses a truth value, and refuses a variable that its own value mentions.
func (s *scope) inferType(c *choice) error {
	values := []spec.Expr{}
	if !c.base.IsAbsent() {
		values = append(values, c.base)
	}
	for _, a := range c.arms {
		values = append(values, a.is)
		if slices.Contains(variables(a.is, a.when), c.name) {
			return fmt.Errorf("the value of %s depends on an earlier %s: choose another name", c.name, c.name)
		}
	}
	for _, v := range values {
		o, err := s.expr(v)
		if err != nil {
			return err
		}
		if o.truth {
			c.kind = truth
		}
	}
	return nil
}

func (s *scope) typed(e spec.Expr, k kind) (*jen.Statement, error) {
	if k == truth {
		return s.truth(e)
	}
	return s.number(e)
}

// assignments prints what the arms of c do.
func (s *scope) assignments(c choice) ([]jen.Code, error) {
	var code []jen.Code
	for _, a := range c.arms {
		assign, value := "=", a.is
		if !c.base.IsAbsent() && isChange(a.is, c.base) {
			assign, value = operators[a.is.Kind].text+"=", a.is.Args[1]
		}
		v, err := s.typed(value, c.kind)
		if err != nil {
			return nil, err
		}
		code = append(code, jen.Id(c.name).Op(assign).Add(v))
	}
	return code, nil
}

// chain prints the arms of c. Conditions mention the variable, which is the base at first, instead of the base.
func (s *scope) chain(c choice, assignments []jen.Code) (*jen.Statement, error) {
	code := &jen.Statement{}
	for i, a := range c.arms {
		if i > 0 {
			code.Else()
		}
		if i < len(c.arms)-1 || !c.base.IsAbsent() {
			when, err := s.truth(replace(a.when, c.base, spec.Var(c.name)))
			if err != nil {
				return nil, err
			}
			code.If(when)
		}
		code.Block(assignments[i])
	}
	return code, nil
}

// replace returns e with old replaced by its name. What is as short as a name stays.
func replace(e, old, name spec.Expr) spec.Expr {
	switch {
	case len(old.Args) == 0:
		return e
	case same(e, old):
		return name
	}
	args := make([]spec.Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = replace(arg, old, name)
	}
	e.Args = args
	return e
}

// letBuf prints a buffer that has a name: a pointer to one of the call's.
func (s *scope) letBuf(n gen.LetBuf) ([]jen.Code, error) {
	base, err := s.pointer(n.Else)
	if err != nil {
		return nil, err
	}
	then, err := s.pointer(n.Then)
	if err != nil {
		return nil, err
	}
	cond, err := s.truth(n.Cond)
	if err != nil {
		return nil, err
	}
	name := string(n.Name)
	return []jen.Code{
		jen.Id(name).Op(":=").Add(base),
		jen.If(cond).Block(jen.Id(name).Op("=").Add(then)),
	}, s.declareBuf(n.Name)
}

func (s *scope) pointer(name spec.Buf) (jen.Code, error) {
	buf, isName, err := s.buffer(name)
	if isName {
		return buf, err
	}
	return jen.Op("&").Add(buf), err
}
