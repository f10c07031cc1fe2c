package gen

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/collgen/collgen/spec"
)

// Param is a number that an algorithm leaves open, such as the radix of a tree. All its expressions may use it. Each of
// the values makes an algorithm of its own: see [Algorithm.Members].
type Param struct {
	Name   string // of the variable; empty: there is none
	Values []int  // that it may have, 1 or more each
	Value  int    // the one that it has in a member; 0: none is chosen
}

// Members returns the algorithms that a declares: a itself or, if it has a Param, one for each value. Of "k-nomial",
// that with radix 4 is "k-nomial-4". A member is proved, recorded, selected and compared by ranks as any other
// algorithm is. But generated code has one function for all of them, in which the number is a variable.
func (a Algorithm) Members() []Algorithm {
	if len(a.Param.Values) == 0 {
		return []Algorithm{a}
	}
	var members []Algorithm
	for _, value := range a.Param.Values {
		m := a
		m.Name, m.Param = fmt.Sprintf("%s-%d", a.Name, value), Param{Name: a.Param.Name, Value: value}
		for _, e := range []*spec.Expr{&m.Requires.Size, &m.Cost.Alpha, &m.Cost.Beta, &m.Cost.Gamma} {
			*e = simplify(replaced(*e, a.Param.Name, spec.Int(value)))
		}
		members = append(members, m)
	}
	return members
}

// DeclaredName returns the name under which a was declared: that of a member is without its value.
func (a *Algorithm) DeclaredName() string {
	if a.Param.Value == 0 {
		return a.Name
	}
	return strings.TrimSuffix(a.Name, fmt.Sprintf("-%d", a.Param.Value))
}

// bind returns env with the number, if there is one.
func (p Param) bind(env spec.Env) spec.Env {
	if p.Name == "" {
		return env
	}
	return env.With(p.Name, p.Value)
}

// isOpen reports whether no value is chosen.
func (p Param) isOpen() bool { return p.Name != "" && p.Value == 0 }

// param checks the number that the algorithm leaves open, and returns the names that it adds to all expressions.
func (v *validator) param() []string {
	switch p := v.a.Param; {
	case p.Name == "" && p.Value == 0 && len(p.Values) == 0:
		return nil
	case !token.IsIdentifier(p.Name) || p.Name == "_" || isReserved(p.Name):
		v.fault("%q cannot be the name of a Param", p.Name)
	case p.Value < 1:
		v.fault("the Param %s has the value %d, and wants Values of 1 or more", p.Name, p.Value)
	}
	return []string{v.a.Param.Name}
}
