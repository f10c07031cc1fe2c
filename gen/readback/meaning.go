package readback

import (
	"fmt"
	"maps"

	"github.com/collgen/collgen/spec"
)

// parameters are what expressions may mention from the start, and last the number that an algorithm leaves open, which
// has a name of its own there.
var parameters = []string{spec.Rank.Name, spec.Size.Name, spec.Root.Name, spec.Peer.Name, spec.Depth.Name,
	spec.Local.Name, param}

// meaning finds out what an algorithm has ranks do.
type meaning struct {
	*terms
	vars  map[string]term
	bufs  map[spec.Buf]term
	loops int // and folds around the node
}

func newMeaning(t *terms) *meaning {
	m := &meaning{terms: t, vars: map[string]term{}, bufs: map[spec.Buf]term{}}
	for _, name := range parameters {
		m.vars[name] = t.name(name)
	}
	for _, buf := range []spec.Buf{spec.In, spec.Out, spec.Scratch} {
		m.bufs[buf] = t.buffer(string(buf))
	}
	return m
}

// refusal is a panic of what cannot be read.
type refusal struct{ error }

func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// rescue makes an error of a refusal.
func rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.error
	default:
		panic(r)
	}
}

// inside is m in its own scope.
func (m *meaning) inside() *meaning {
	return &meaning{m.terms, maps.Clone(m.vars), maps.Clone(m.bufs), m.loops}
}

// holds returns e as a truth value.
func (m *meaning) holds(e spec.Expr) term { return m.isSet(m.expr(e)) }

// value returns e as a number.
func (m *meaning) value(e spec.Expr) term { return m.asNumber(m.expr(e)) }

// onNumbers are the operators that take two numbers.
var onNumbers = map[spec.ExprKind]func(t *terms, x, y term) term{
	spec.AddExpr:     func(t *terms, x, y term) term { return t.plus(x, 1, y) },
	spec.SubExpr:     func(t *terms, x, y term) term { return t.plus(x, -1, y) },
	spec.MulExpr:     (*terms).product,
	spec.DivExpr:     func(t *terms, x, y term) term { return t.operator("/", x, y) },
	spec.ModExpr:     func(t *terms, x, y term) term { return t.operator("%", x, y) },
	spec.MinExpr:     func(t *terms, x, y term) term { return t.operator("min", x, y) },
	spec.MaxExpr:     func(t *terms, x, y term) term { return t.operator("max", x, y) },
	spec.ShlExpr:     func(t *terms, x, y term) term { return t.operator("<<", x, y) },
	spec.ShrExpr:     func(t *terms, x, y term) term { return t.operator(">>", x, y) },
	spec.ReverseExpr: (*terms).reversed,
	spec.BitAndExpr:  func(t *terms, x, y term) term { return t.operator("&", x, y) },
	spec.BitOrExpr:   func(t *terms, x, y term) term { return t.operator("|", x, y) },
	spec.BitXorExpr:  func(t *terms, x, y term) term { return t.operator("^", x, y) },
	spec.EqExpr:      (*terms).equal,
	spec.NeExpr:      func(t *terms, x, y term) term { return t.not(t.equal(x, y)) },
	spec.LtExpr:      (*terms).less,
	spec.LeExpr:      func(t *terms, x, y term) term { return t.not(t.less(y, x)) },
}

func (m *meaning) expr(e spec.Expr) term {
	if e.Kind == spec.Variable {
		return m.variable(e.Name)
	}
	if !e.WellFormed() {
		refuse("%v is not an expression", e)
	}
	switch e.Kind {
	case spec.Const:
		return m.number(e.N)
	case spec.AndExpr:
		return m.and(m.holds(e.Args[0]), m.holds(e.Args[1]))
	case spec.OrExpr:
		return m.or(m.holds(e.Args[0]), m.holds(e.Args[1]))
	case spec.NotExpr:
		return m.not(m.holds(e.Args[0]))
	case spec.CondExpr:
		return m.conditional(e)
	case spec.Log2Expr:
		return m.plus(m.length(m.value(e.Args[0])), -1, m.number(1))
	}
	return onNumbers[e.Kind](m.terms, m.value(e.Args[0]), m.value(e.Args[1]))
}

func (m *meaning) variable(name string) term {
	x, ok := m.vars[name]
	if !ok {
		refuse("%s is not defined", name)
	}
	return x
}

// conditional returns a truth value if both of its ways are.
func (m *meaning) conditional(e spec.Expr) term {
	c, x, y := m.holds(e.Args[0]), m.expr(e.Args[1]), m.expr(e.Args[2])
	if m.isTruth(x) != m.isTruth(y) {
		x, y = m.asNumber(x), m.asNumber(y)
	}
	return m.choice(c, x, y)
}
