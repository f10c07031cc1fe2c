package readback

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

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
