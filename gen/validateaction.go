package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// action checks one action.
func (v *validator) action(n Node) {
	v.node = v.next
	v.next++
	if !v.inStep {
		v.fault("%s stands outside of a Step", verb(n))
	}
	isLocal := false
	switch n := n.(type) {
	case Send:
		v.number("To", n.To)
		v.message(n.Data)
	case Recv:
		v.number("From", n.From)
		v.message(n.Into)
	case RecvReduce:
		v.number("From", n.From)
		v.region(n.Into)
		v.region(n.With)
		v.optionalNumber("ReceivedFirst", n.ReceivedFirst)
	case Copy:
		isLocal = true
		v.region(n.Into)
		v.region(n.From)
	case Reduce:
		isLocal = true
		v.reduce(n)
	case Finish:
		isLocal = true
		v.region(n.Data)
	}
	v.order(n, isLocal)
	v.node = -1
}

// order checks what an action does where it stands.
func (v *validator) order(n Node, isLocal bool) {
	if !isLocal && v.local {
		v.fault("%s is listed after a local action of the same step", verb(n))
	}
	v.local = v.local || isLocal
	switch n.(type) {
	case RecvReduce, Reduce, Finish:
		if !slices.Contains(v.a.Primitive.Params, spec.ParamOp) {
			v.fault("%s: %s has no op", verb(n), v.a.Primitive.Name)
		}
	}
}

func (v *validator) reduce(n Reduce) {
	v.region(n.Into)
	v.number("N", n.N)
	v.define(n.Var)
	v.region(n.From)
	v.scope = v.scope[:len(v.scope)-1]
}

// message checks the data of a message, which may be no data.
func (v *validator) message(r Region) {
	if !r.isNothing() {
		v.region(r)
	}
}

func (v *validator) region(r Region) {
	v.buf(r.Buf)
	v.number("the place in "+string(r.Buf), r.At)
	v.optionalNumber("N of a place in "+string(r.Buf), r.N)
	v.optionalNumber("Like of a place in "+string(r.Buf), r.Like)
	if v.mayBeScratch(r.Buf) != spec.Scratch {
		if !r.Like.IsAbsent() {
			v.fault("a place in %s has the length of its own chunks, and needs no Like", r.Buf)
		}
		return
	}
	if isOne(v.a.Chunks) {
		return
	}
	if r.Like.IsAbsent() {
		v.fault("a slot of %s needs Like, because the chunks of a block differ in length", r.Buf)
	}
	if !isOne(r.N) {
		v.fault("a place in %s is a single slot, because the chunks of a block differ in length", r.Buf)
	}
}

// isOne reports whether an expression that is 1 where it is absent is the constant 1.
func isOne(e spec.Expr) bool { return e.IsAbsent() || e.Kind == spec.Const && e.N == 1 }

// verb returns the kind of an action, as people call it.
func verb(n Node) string {
	switch n.(type) {
	case Send:
		return "send"
	case Recv:
		return "recv"
	case RecvReduce:
		return "recv-reduce"
	case Copy:
		return "copy"
	case Reduce:
		return "reduce"
	}
	return "finish"
}
