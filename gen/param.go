package gen

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/spec"
)

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
