package golang

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// fold prints a Fold: variables, and a loop that ends with the assignment of their next values.
func (s *scope) fold(n gen.Fold, st stmt) (code []jen.Code, err error) {
	times, err := s.number(n.N)
	if len(n.State) == 0 {
		err = fmt.Errorf("the fold over %s works out nothing", n.Var)
	}
	if err != nil {
		return nil, err
	}
	for _, x := range n.State {
		first, err := s.let(x.Name, x.First)
		if k, _ := s.lookup(x.Name); err == nil && k == truth {
			err = fmt.Errorf("%s is a truth value where a number is needed: give If(…, 1, 0) a name with Let", x.Name)
		}
		if err != nil {
			return nil, err
		}
		code = append(code, first...)
	}
	inner, head, err := s.turns(n.Var, times, st.usesVar)
	if err != nil {
		return nil, err
	}
	turn, err := inner.list(st.body, false)
	if err != nil {
		return nil, err
	}
	next, err := inner.next(n)
	return append(code, head.Block(append(turn, next)...)), err
}

// next prints the assignment of what the numbers of n are after a turn.
func (s *scope) next(n gen.Fold) (jen.Code, error) {
	var names, values []jen.Code
	for _, x := range n.State {
		value, err := s.number(x.Next)
		if err != nil {
			return nil, err
		}
		names, values = append(names, jen.Id(x.Name)), append(values, value)
	}
	assign := jen.List(names...).Op("=").List(values...)
	if x := n.State[0]; len(n.State) == 1 && isChange(x.Next, spec.Var(x.Name)) {
		change, err := s.number(x.Next.Args[1])
		if err != nil {
			return nil, err
		}
		assign = jen.Id(x.Name).Op(operators[x.Next.Kind].text + "=").Add(change)
	}
	if n.When.IsAbsent() {
		return assign, nil
	}
	when, err := s.truth(n.When)
	return jen.If(when).Block(assign), err
}
