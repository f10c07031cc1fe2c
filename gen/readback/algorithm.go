package readback

import (
	"fmt"
	"maps"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// parameters are what expressions may mention from the start, and last the number that an algorithm leaves open, which
// has a name of its own there.
var parameters = []string{spec.Rank.Name, spec.Size.Name, spec.Root.Name, spec.Peer.Name, spec.Depth.Name,
	spec.Local.Name, param}

const param = "param"

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

// meaningOf returns what a has ranks do.
func meaningOf(t *terms, a *gen.Algorithm) (lines []line, err error) {
	defer rescue(&err)
	m := newMeaning(t)
	if a.Param.Name != "" {
		m.vars[a.Param.Name] = t.name(param)
	}
	layout := item{call: "Layout", args: []term{m.value(a.Chunks.OrElse(spec.Int(1))),
		m.value(a.Scratch.OrElse(spec.Int(0)))}}
	return t.normal(append([]item{layout}, m.nodes(a.Body)...)), nil
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

// nodes returns what nodes do, in a scope of their own.
func (m *meaning) nodes(nodes []gen.Node) []item {
	m = m.inside()
	var list []item
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.Let:
			m.vars[n.Name] = m.expr(n.Is)
		case gen.LetBuf:
			m.bufs[n.Name] = m.choice(m.holds(n.Cond), m.buf(n.Then), m.buf(n.Else))
		case gen.Fold:
			m.fold(n)
		case gen.For:
			list = append(list, m.loop(n.Var, n.N, func(m *meaning) []item { return m.nodes(n.Body) }))
		case gen.If:
			list = append(list, item{call: branch, args: []term{m.holds(n.Cond)}, body: m.nodes(n.Then),
				otherwise: m.nodes(n.Else)})
		case gen.Step:
			list = append(list, m.step(n)...)
		default:
			list = append(list, m.action(n)...)
		}
	}
	return list
}

// loop returns a loop of what body does, with its own name for the turn.
func (m *meaning) loop(name string, n spec.Expr, body func(*meaning) []item) item {
	inner := m.inside()
	inner.vars[name] = turn(m.terms, m.loops)
	inner.loops++
	return item{call: loop, args: []term{m.value(n)}, body: body(inner)}
}

// turn returns the turn of a loop inside so many others.
func turn(t *terms, loops int) term { return t.name(fmt.Sprintf("turn%d", loops)) }

// step returns what a step does: its messages at once, and then its local actions.
func (m *meaning) step(n gen.Step) []item {
	all := m.nodes(n)
	return append(append(part(all, true), item{call: exchange}), part(all, false)...)
}

// part returns the messages of items, with their marks, or the rest, each in its loops and conditions.
func part(list []item, message bool) []item {
	var kept []item
	for _, x := range list {
		switch {
		case x.call == branch || x.call == loop:
			x.body, x.otherwise = part(x.body, message), part(x.otherwise, message)
			kept = append(kept, x)
		case isMessage(x.call) == message:
			kept = append(kept, x)
		}
	}
	return kept
}

// action returns the calls that carry out an action.
func (m *meaning) action(n gen.Node) []item {
	switch n := n.(type) {
	case gen.Send:
		return m.message("Send", "Signal", n.To, n.Data, false)
	case gen.Recv:
		if n.Lend {
			return m.message("Borrow", "Await", n.From, n.Into, n.AfterSend)
		}
		return m.message("Recv", "Await", n.From, n.Into, n.AfterSend)
	case gen.RecvReduce:
		first := m.holds(n.ReceivedFirst.OrElse(spec.Int(0)))
		return marked(item{call: "RecvReduce", args: []term{m.value(n.From), m.place(n.Into), m.place(n.With), first}},
			n.AfterSend)
	case gen.Copy:
		call := "Copy"
		if n.Lend {
			call = "Refer"
		}
		return []item{{call: call, args: []term{m.place(n.Into), m.place(n.From)}}}
	case gen.Reduce:
		operands := m.loop(n.Var, n.N,
			func(m *meaning) []item { return []item{{call: "Operand", args: []term{m.place(n.From)}}} })
		return []item{operands, {call: "Reduce", args: []term{m.place(n.Into)}}}
	case gen.Finish:
		return []item{{call: "Finish", args: []term{m.place(n.Data)}}}
	}
	refuse("%T is not an action", n)
	return nil
}

func (m *meaning) message(call, empty string, peer spec.Expr, data gen.Region, afterSend bool) []item {
	if data.Buf == "" {
		return marked(item{call: empty, args: []term{m.value(peer)}}, afterSend)
	}
	return marked(item{call: call, args: []term{m.value(peer), m.place(data)}}, afterSend)
}

func marked(x item, afterSend bool) []item {
	if afterSend {
		return []item{x, {call: "AfterSend"}}
	}
	return []item{x}
}

func (m *meaning) buf(name spec.Buf) term {
	b, ok := m.bufs[name]
	if !ok {
		refuse("there is no buffer %q", name)
	}
	return b
}

func (m *meaning) place(r gen.Region) term {
	like := absent
	switch {
	case len(r.Counts) > 1:
		refuse("a slot as long as a block of %v", r.Counts)
	case len(r.Counts) == 1:
		like = m.value(r.Counts[0])
	case !r.Like.IsAbsent():
		like = m.value(r.Like)
	}
	return m.region(m.buf(r.Buf), m.value(r.At), m.value(r.N.OrElse(spec.Int(1))), like)
}

// region returns n chunks of a buffer from chunk at on. Which chunk they are like counts only in scratch.
func (t *terms) region(buf, at, n, like term) term {
	if like == absent || !t.mayBeScratch(buf) {
		return t.make(node{op: "place", args: []term{buf, at, n}})
	}
	return t.make(node{op: "place", args: []term{buf, at, n, like}})
}

func (t *terms) mayBeScratch(buf term) bool {
	n := t.nodes[buf]
	return n.name == string(spec.Scratch) || n.op == "if" && (t.mayBeScratch(n.args[1]) || t.mayBeScratch(n.args[2]))
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
