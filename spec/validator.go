package spec

import (
	"fmt"
	"regexp"
	"slices"
)

type validator struct {
	p      Primitive
	used   map[string]bool // the variables that occur in expressions
	faults []error
}

func (v *validator) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf(v.p.Name+": "+format, args...))
}

// expr checks an expression that may be absent, over the variables of the call and more.
func (v *validator) expr(e Expr, where string, more ...string) {
	if e.IsAbsent() {
		return
	}
	if e.Kind == Variable {
		v.used[e.Name] = true
		if !v.known(e.Name) && !slices.Contains(more, e.Name) {
			v.fault("%s: the variable %s has no meaning here", where, e.Name)
		}
		return
	}
	if !e.WellFormed() {
		v.fault("%s: %v is not an expression", where, e)
	}
	for _, a := range e.Args {
		if a.IsAbsent() {
			v.fault("%s: an operand of %v is absent", where, e)
		}
		v.expr(a, where, more...)
	}
}

// known reports whether a variable has a meaning everywhere in p.
func (v *validator) known(name string) bool {
	switch name {
	case Root.Name:
		return slices.Contains(v.p.Params, ParamRoot)
	case Peer.Name:
		return slices.Contains(v.p.Params, ParamPeer)
	}
	return name == Rank.Name || name == Size.Name
}

// buf checks the buffer that a clause mentions.
func (v *validator) buf(c Clause, at string) {
	switch {
	case c.Value.Kind == Entered && c.Buf != "":
		v.fault("%s: that ranks have entered is not said of %q", at, c.Buf)
	case c.Value.Kind == Entered:
	case c.Buf != In && c.Buf != Out:
		v.fault("%s: there is no buffer %q", at, c.Buf)
	case c.Buf == In && v.p.In.Blocks.IsAbsent(), c.Buf == Out && v.p.Out.Blocks.IsAbsent():
		v.fault("%s: the primitive has no buffer %s", at, c.Buf)
	}
}

var exported = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
