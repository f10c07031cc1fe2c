package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// Group is the ranks among which an algorithm is carried out as a part of another one: N of them, Stride apart, from
// First on. Ranks are divided into such groups; the members of one agree on First, Stride and N.
//
// Hosts of n ranks each are the groups {First: n × host, Stride: 1, N: n}, and the ranks with one place on all hosts
// are {First: place, Stride: n, N: hosts}.
type Group struct {
	Name             string // prefix of the names that the part defines; no two parts of an algorithm have the same
	First, Stride, N spec.Expr
	Member           spec.Expr // this rank's number within the group: its rank is First + Member × Stride
	Root             spec.Expr // the root's number, for an algorithm that has one
}

// Part is where a buffer of an algorithm lies that a group carries out: its chunk c is the N chunks of Buf from
// At + c × Stride on. For scratch these are slots.
type Part struct {
	Buf    spec.Buf
	At, N  spec.Expr // absent: 0 and 1
	Like   spec.Expr // of scratch: the chunk that its slots are as long as, where the algorithm does not say
	Stride spec.Expr // absent: N. With another one, the body names chunks one by one
}

// Run returns what a rank does while the ranks of g carry out a: its body with ranks, buffers and names replaced, so
// that whatever is proved of the result includes it. Parts has every buffer that a uses. A partial result is left
// unfinished, for another part or a Finish. What a states besides its body, such as Chunks and Hints, is not taken
// over; [Group.Slots] says how much scratch it needs. An algorithm of uneven blocks may not have scratch.
func (g Group) Run(a *Algorithm, parts map[spec.Buf]Part, partial bool) []Node {
	scope := map[spec.Buf]Part{}
	for buf, p := range parts {
		n := p.N.OrElse(spec.Int(1))
		scope[buf] = Part{p.Buf, p.At.OrElse(spec.Int(0)), n, p.Like, p.Stride.OrElse(n)}
	}
	return groupPart{g, partial, a.Param}.body(a.Body, scope)
}

// Slots returns how many slots of scratch a needs when g carries it out.
func (g Group) Slots(a *Algorithm) spec.Expr {
	return groupPart{g: g, param: a.Param}.expr(a.Scratch.OrElse(spec.Int(0)))
}

// Expr returns what e, an expression of an algorithm that g carries out, is in the whole; for invariants, where [Cell]
// is the cell of a buffer that lies where that of the algorithm does.
func (g Group) Expr(e spec.Expr) spec.Expr { return groupPart{g: g}.expr(e) }

// groupPart makes a body anew for a group.
type groupPart struct {
	g       Group
	partial bool
	param   Param
}

// name returns the name for what the part calls so.
func (p groupPart) name(of string) string { return p.g.Name + strings.ToUpper(of[:1]) + of[1:] }

func (p groupPart) expr(e spec.Expr) spec.Expr {
	if e.Kind != spec.Variable {
		return mapArgs(e, p.expr)
	}
	switch e.Name {
	case spec.Rank.Name:
		return p.g.Member
	case spec.Size.Name:
		return p.g.N
	case spec.Root.Name:
		return p.g.Root
	case spec.Depth.Name, spec.Local.Name, Cell.Name:
		return e
	case p.param.Name:
		return spec.Int(p.param.Value)
	}
	return spec.Var(p.name(e.Name))
}

// rank returns the rank that a member has.
func (p groupPart) rank(member spec.Expr) spec.Expr {
	return simplify(spec.Add(p.g.First, spec.Mul(p.expr(member), p.g.Stride)))
}

// body returns nodes for the group. The buffers that they name lie as scope says.
func (p groupPart) body(nodes []Node, scope map[spec.Buf]Part) []Node {
	var list []Node
	for i, n := range nodes {
		if n, ok := n.(LetBuf); ok {
			named, is := p.letBuf(n, scope)
			inner := map[spec.Buf]Part{n.Name: is}
			for buf, part := range scope {
				if buf != n.Name {
					inner[buf] = part
				}
			}
			return append(append(list, named...), p.body(nodes[i+1:], inner)...)
		}
		if _, ok := n.(Finish); ok && p.partial {
			continue
		}
		n = p.node(n, scope)
		if c, ok := n.(Copy); ok && c.Into.String() == c.From.String() {
			continue // two buffers of the part are one of the whole
		}
		if s, ok := n.(Step); ok && len(s) == 0 {
			continue
		}
		list = append(list, n)
	}
	return list
}

func (p groupPart) node(n Node, scope map[spec.Buf]Part) Node {
	r := rewriter{expr: p.expr, body: func(nodes []Node) []Node { return p.body(nodes, scope) }}
	at := func(x Region) Region { return p.region(x, scope) }
	switch n := n.(type) {
	case For:
		n.Var = p.name(n.Var)
		return r.node(n)
	case Let:
		n.Name = p.name(n.Name)
		return r.node(n)
	case Fold:
		n.Var, n.State = p.name(n.Var), slices.Clone(n.State)
		for i := range n.State {
			n.State[i].Name = p.name(n.State[i].Name)
		}
		return r.node(n)
	case Send:
		return Send{p.rank(n.To), at(n.Data)}
	case Recv:
		return Recv{p.rank(n.From), at(n.Into), n.AfterSend, n.Lend}
	case RecvReduce:
		return RecvReduce{p.rank(n.From), at(n.Into), at(n.With), p.expr(n.ReceivedFirst), n.AfterSend}
	case Copy:
		return Copy{at(n.Into), at(n.From), n.Lend}
	case Reduce:
		return Reduce{at(n.Into), p.name(n.Var), p.expr(n.N), at(n.From)}
	case Finish:
		return Finish{at(n.Data)}
	}
	return r.node(n)
}

// part returns where a buffer lies. That of one without a part has a name that no buffer has: Validate prints it.
func (p groupPart) part(buf spec.Buf, scope map[spec.Buf]Part) Part {
	if is, ok := scope[buf]; ok {
		return is
	}
	return Part{Buf: spec.Buf(fmt.Sprintf("%s, of which group %s has no part", buf, p.g.Name)), At: spec.Int(0),
		N: spec.Int(1), Stride: spec.Int(1)}
}

// letBuf returns the nodes that name a buffer, which is one of two parts, and where it lies.
func (p groupPart) letBuf(n LetBuf, scope map[spec.Buf]Part) ([]Node, Part) {
	holds, then, els := p.expr(n.Cond), p.part(n.Then, scope), p.part(n.Else, scope)
	name := p.name(string(n.Name))
	is := Part{then.Buf, then.At, then.N, then.Like.OrElse(els.Like), then.Stride}
	var list []Node
	if then.Buf != els.Buf {
		is.Buf = spec.Buf(name)
		list = []Node{LetBuf{is.Buf, holds, then.Buf, els.Buf}}
	}
	for _, x := range []struct {
		suffix    string
		is        *spec.Expr
		otherwise spec.Expr
	}{{"At", &is.At, els.At}, {"N", &is.N, els.N}, {"Stride", &is.Stride, els.Stride}} {
		if x.is.String() != x.otherwise.String() {
			list = append(list, Let{name + x.suffix, spec.If(holds, *x.is, x.otherwise)})
			*x.is = spec.Var(name + x.suffix)
		}
	}
	return list, is
}

// region returns where x lies. What a slot of scratch is like is a chunk of the input, or of the output of an
// algorithm that has none.
func (p groupPart) region(x Region, scope map[spec.Buf]Part) Region {
	if x.Buf == "" {
		return x
	}
	is := p.part(x.Buf, scope)
	place := func(part Part, chunk spec.Expr) spec.Expr {
		return simplify(spec.Add(part.At, spec.Mul(p.expr(chunk), part.Stride)))
	}
	moved := Region{Buf: is.Buf, At: place(is, x.At)}
	if n := simplify(spec.Mul(p.expr(x.N.OrElse(spec.Int(1))), is.N)); n.String() != "1" {
		moved.N = n
	}
	moved.Like = is.Like
	if !x.Like.IsAbsent() {
		like, ok := scope[spec.In]
		if !ok {
			like = scope[spec.Out]
		}
		moved.Like = place(like, x.Like)
	}
	return moved
}
