package spec

import (
	"errors"
	"fmt"
	"slices"
)

// Validate checks that p says something that can be promised. First it reports every fault of these kinds:
//
//   - a name that Go could not use
//   - an expression that is malformed, or uses a variable that has no meaning there
//   - a clause about a buffer that the primitive does not have, or a buffer that no clause mentions
//   - a value with parts missing
//   - a parameter that nothing uses
//   - counts of blocks for one buffer alone, or too many
//
// Only if there are none, it works out calls, and reports these:
//
//   - a call in range for which the promise has no meaning
//   - a root or peer out of range that is not refused
//   - a clause about no block
//   - a precondition that a rank cannot check
//   - a promise that is kept without a message
//   - an example that says otherwise
func Validate(p Primitive) error {
	v := &validator{p: p, used: map[string]bool{}}
	v.names()
	v.buffers()
	v.clauses()
	v.reduction()
	v.arguments()
	for _, pass := range []func(){v.calls, v.vacuous, v.examples} { // each would only repeat the faults before it
		if len(v.faults) == 0 {
			pass()
		}
	}
	return errors.Join(v.faults...)
}

func (v *validator) names() {
	if !exported.MatchString(v.p.Name) {
		v.fault("the name %q is not that of an exported Go function", v.p.Name)
	}
	if v.p.Doc == "" {
		v.fault("Doc is empty")
	}
	for i, x := range v.p.Params {
		if x != ParamOp && x != ParamRoot && x != ParamPeer {
			v.fault("there is no parameter %q", x)
		}
		if slices.Contains(v.p.Params[:i], x) {
			v.fault("the parameter %s is listed twice", x)
		}
	}
}

func (v *validator) buffers() {
	for _, b := range []struct {
		name    Buf
		is      Buffer
		clauses []Clause
	}{{In, v.p.In, v.p.Pre}, {Out, v.p.Out, v.p.Post}} {
		v.expr(b.is.Blocks, string(b.name)+".Blocks")
		v.expr(b.is.On, string(b.name)+".On")
		v.counts(b.name, b.is)
		spoken := slices.ContainsFunc(b.clauses, func(c Clause) bool { return c.Buf == b.name })
		switch {
		case b.is.Blocks.IsAbsent() && !b.is.On.IsAbsent():
			v.fault("%s has no blocks, but On says which ranks pass it", b.name)
		case !b.is.Blocks.IsAbsent() && !spoken:
			v.fault("no condition mentions %s", b.name)
		}
	}
	if in, out := v.p.In, v.p.Out; !in.Blocks.IsAbsent() && !out.Blocks.IsAbsent() && len(in.Counts) != len(out.Counts) {
		v.fault("in has %d Counts and out has %d: the blocks of both have lengths of one kind", len(in.Counts),
			len(out.Counts))
	}
	v.inPlace()
}

func (v *validator) counts(name Buf, b Buffer) {
	if len(b.Counts) > len(Length{}) {
		v.fault("%s has %d Counts, and %d are the most", name, len(b.Counts), len(Length{}))
	}
	if b.Blocks.IsAbsent() && len(b.Counts) > 0 {
		v.fault("%s has no blocks, but Counts", name)
	}
	for i, e := range b.Counts {
		at := fmt.Sprintf("%s.Counts[%d]", name, i)
		if e.IsAbsent() {
			v.fault("%s is absent", at)
		}
		v.expr(e, at, Block.Name)
	}
}

func (v *validator) inPlace() {
	p := v.p.InPlace
	v.expr(p.InBlock, "InPlace.InBlock")
	v.expr(p.OutBlock, "InPlace.OutBlock")
	if p.InBlock.IsAbsent() != p.OutBlock.IsAbsent() {
		v.fault("InPlace names a block of one buffer only")
	}
	if !p.InBlock.IsAbsent() && (v.p.In.Blocks.IsAbsent() || v.p.Out.Blocks.IsAbsent()) {
		v.fault("InPlace needs both buffers")
	}
}

func (v *validator) clauses() {
	for i, c := range v.p.Pre {
		at := fmt.Sprintf("Pre[%d]", i)
		if c.Buf != In || c.Value.Kind != Input {
			v.fault("%s: a precondition says which Input a block of in is", at)
		}
		v.clause(c, at)
	}
	if len(v.p.Post) == 0 {
		v.fault("there are no postconditions")
	}
	for i, c := range v.p.Post {
		v.clause(c, fmt.Sprintf("Post[%d]", i))
	}
}

// parts says which of a Value's expressions a kind has to have (+) and may not have (-): Rank, Block, Where.
var parts = map[ValueKind]string{Undefined: "---", Input: "++-", Fold: "-+?", Entered: "--?"}

func (v *validator) clause(c Clause, at string) {
	v.expr(c.Where, at+".Where", Block.Name)
	v.buf(c, at)
	rule, ok := parts[c.Value.Kind]
	if !ok {
		v.fault("%s: a clause cannot say %v", at, c.Value.Kind)
		return
	}
	over := []string{Block.Name}
	if c.Value.Kind == Fold || c.Value.Kind == Entered {
		over = append(over, Q.Name)
	}
	for i, part := range []struct {
		name string
		is   Expr
	}{{"Rank", c.Value.Rank}, {"Block", c.Value.Block}, {"Where", c.Value.Where}} {
		v.expr(part.is, at+".Value."+part.name, over...)
		if rule[i] == '+' && part.is.IsAbsent() {
			v.fault("%s: a value of kind %v needs %s", at, c.Value.Kind, part.name)
		}
		if rule[i] == '-' && !part.is.IsAbsent() {
			v.fault("%s: a value of kind %v has no %s", at, c.Value.Kind, part.name)
		}
	}
}

// reduction checks that op, Order and the clauses agree on whether anything is reduced.
func (v *validator) reduction() {
	folds := slices.ContainsFunc(v.p.Post, func(c Clause) bool { return c.Value.Kind == Fold })
	takes := slices.Contains(v.p.Params, ParamOp)
	if folds != takes {
		v.fault("a primitive with the parameter op needs a Fold in a postcondition, and the reverse")
	}
	if v.p.Order > RankOrdered || v.p.Order != AnyTree && !folds {
		v.fault("%v is no order of this primitive", v.p.Order)
	}
}

func (v *validator) arguments() {
	for i, a := range v.p.Errors {
		v.expr(a.When, fmt.Sprintf("Errors[%d].When", i))
		if a.When.IsAbsent() || a.Reason == "" {
			v.fault("Errors[%d] needs When and Reason", i)
		}
	}
	for _, x := range v.p.Params {
		if x != ParamOp && !v.used[string(x)] {
			v.fault("nothing depends on the parameter %s", x)
		}
	}
}

// calls works out the promise for all calls of few ranks. Roots and peers out of range have to be refused.
func (v *validator) calls() {
	for size := 1; size <= 5; size++ {
		for c := range v.p.CallsAround(size) {
			legal := c.Root >= 0 && c.Root < size && c.Peer >= 0 && c.Peer < size
			_, err := Expect(v.p, c)
			var refused *RefusedError
			switch isRefused := errors.As(err, &refused); {
			case !legal && !isRefused:
				v.fault("the call %+v is not refused", c)
				return
			case err != nil && !isRefused:
				v.fault("the call %+v: %v", c, err)
				return
			}
		}
	}
}
