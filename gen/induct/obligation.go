package induct

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/spec"
)

// Obligation is a formula that has to hold for all values of its variables.
type Obligation struct {
	Name    string // what kind it is: matched, bounds, …
	Says    string // what it says, in words
	Action  int    // index of the action that it is about, in source order; -1: of none
	InPlace bool   // it is about calls in place

	Loop string // the variable of the loop whose invariant says what memory holds there; empty: none does

	Names []Name
	Given []spec.Expr // what may be presumed
	Goal  spec.Expr
	Parts []Part // of the goal, which is that all of them hold

	needs []need
	all   []Name // Names, and those that were left out
}

// Part is a part of a goal, and what it says, in a few words.
type Part struct {
	Says string
	Is   spec.Expr
}

// Name is a name that an obligation uses, over the names before it: a variable, which may be any of the numbers
// Min..Max-1, or short for an expression.
type Name struct {
	Name     string
	Is       spec.Expr // absent: it is a variable
	Min, Max spec.Expr // of a variable; Max absent: no bound
	Truth    bool      // it is short for a condition
}

// String returns the obligation in a line.
func (o *Obligation) String() string {
	s := o.Name
	if o.Action >= 0 {
		s += fmt.Sprintf(" of action %d", o.Action)
	}
	if o.InPlace {
		s += ", in place"
	}
	return s + ": " + o.Says
}

// Holds evaluates o for a value of each variable. What is presumed need not hold: then o does.
func (o *Obligation) Holds(env spec.Env) (bool, error) {
	env = bind(env, o.Names)
	for _, g := range o.Given {
		if v, err := g.Eval(env); err != nil || v == 0 {
			return true, err
		}
	}
	v, err := o.Goal.Eval(env)
	return v != 0, err
}

// of is parts that say what they are of.
func of(what string, parts []Part) (list []Part) {
	for _, p := range parts {
		list = append(list, Part{what + ": " + p.Says, p.Is})
	}
	return list
}

// Fails says which parts of the goal do not hold for a value of each variable.
func (o *Obligation) Fails(env spec.Env) (says []string) {
	env = bind(env, o.all)
	for _, p := range o.Parts {
		if v, err := p.Is.Eval(env); err == nil && v == 0 && !slices.Contains(says, p.Says) {
			says = append(says, p.Says)
		}
	}
	return says
}

// bind is env with the values of names that are short for something.
func bind(env spec.Env, names []Name) spec.Env {
	for _, d := range names {
		if d.Is.IsAbsent() {
			continue
		}
		v, err := d.Is.Eval(env)
		if err != nil {
			v = 0 // outside of what is presumed, names may have no value
		}
		env = env.With(d.Name, v)
	}
	return env
}

// prune leaves out what nothing uses.
func (o *Obligation) prune() {
	seen := map[string]bool{}
	for _, e := range o.Given {
		mark(seen, e)
	}
	for _, p := range o.Parts {
		mark(seen, p.Is)
	}
	var kept []Name
	for _, n := range slices.Backward(o.Names) {
		if n.Is.IsAbsent() || seen[n.Name] {
			mark(seen, n.Is)
			mark(seen, n.Max)
			kept = append(kept, n)
		}
	}
	slices.Reverse(kept)
	o.all, o.Names = o.Names, kept
}

func mark(seen map[string]bool, e spec.Expr) {
	if e.Kind == spec.Variable {
		seen[e.Name] = true
	}
	for _, arg := range e.Args {
		mark(seen, arg)
	}
}

// unsupported is why no obligations can be derived from an algorithm. It is panicked with inside this package.
type unsupported struct{ reason string }

func (u unsupported) Error() string { return u.reason }

// need is a cell that an obligation has to know something of.
type need struct {
	buf               spec.Buf
	cell, rank, known expr
}
