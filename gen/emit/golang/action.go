package golang

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// action prints an action: a call of one of the methods of collective.Call.
func (s *scope) action(n gen.Node) ([]jen.Code, error) {
	var c call
	switch n := n.(type) {
	case gen.Send:
		c = s.message("Send", "Signal", n.To, n.Data)
	case gen.Recv:
		c = s.message(methods{"Recv", "Borrow"}.of(n.Lend), "Await", n.From, n.Into).mark(n.AfterSend)
	case gen.RecvReduce:
		c = s.call("RecvReduce").number(n.From).region(n.Into).region(n.With).truth(n.ReceivedFirst.OrElse(spec.Int(0))).mark(
			n.AfterSend)
	case gen.Copy:
		c = s.call(methods{"Copy", "Refer"}.of(n.Lend)).region(n.Into).region(n.From)
	case gen.Reduce:
		return s.reduce(n)
	case gen.Finish:
		c = s.call("Finish").region(n.Data)
	default:
		return nil, fmt.Errorf("%T is not an action", n)
	}
	return c.code()
}

// methods are a method of collective.Call and the one for what is lent.
type methods [2]string

func (m methods) of(lent bool) string {
	if lent {
		return m[1]
	}
	return m[0]
}

func (s *scope) message(name, empty string, peer spec.Expr, data gen.Region) call {
	if data.Buf == "" {
		return s.call(empty).number(peer)
	}
	return s.call(name).number(peer).region(data)
}

func (s *scope) reduce(n gen.Reduce) ([]jen.Code, error) {
	times, err := s.number(n.N)
	if err != nil {
		return nil, err
	}
	inner := newScope(s)
	if err := inner.declare(n.Var, natural); err != nil {
		return nil, err
	}
	operand, err := inner.call("Operand").region(n.From).code()
	if err != nil {
		return nil, err
	}
	head := jen.For(jen.Id(n.Var).Op(":=").Range().Add(times))
	if !slices.Contains(regionNames(n.From), n.Var) {
		head = jen.For(jen.Range().Add(times))
	}
	into, err := s.call("Reduce").region(n.Into).code()
	return append([]jen.Code{head.Block(operand...)}, into...), err
}

// call is a call of a method of collective.Call in the making: the first error stays.
type call struct {
	s      *scope
	method string
	args   []jen.Code
	marked bool
	err    error
}

func (s *scope) call(method string) call { return call{s: s, method: method} }

func (c call) arg(code jen.Code, err error) call {
	c.args = append(c.args, code)
	c.err = errors.Join(c.err, err)
	return c
}

func (c call) number(e spec.Expr) call  { return c.arg(c.s.number(e)) }
func (c call) truth(e spec.Expr) call   { return c.arg(c.s.truth(e)) }
func (c call) region(r gen.Region) call { return c.arg(c.s.region(r)) }
func (c call) mark(afterSend bool) call { c.marked = afterSend; return c }

func (c call) code() ([]jen.Code, error) {
	code := []jen.Code{jen.Id("x").Dot(c.method).Call(c.args...)}
	if c.marked {
		code = append(code, jen.Id("x").Dot("AfterSend").Call())
	}
	return code, c.err
}

// region prints the bytes of r.
func (s *scope) region(r gen.Region) (jen.Code, error) {
	buf, _, err := s.buffer(r.Buf)
	if err != nil {
		return nil, err
	}
	at, err := s.number(r.At)
	if err != nil {
		return nil, err
	}
	if n := r.N.OrElse(spec.Int(1)); !same(n, spec.Int(1)) {
		count, err := s.number(n)
		return buf.Dot("Span").Call(at, count), err
	}
	if !hasLike(r) {
		return buf.Dot("Chunk").Call(at), nil
	}
	like, err := s.number(likeOf(r))
	return buf.Dot("Slot").Call(at, like), err
}
