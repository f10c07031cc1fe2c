// Package mutants changes specifications, each in one place, to find out what guards them: a change that says something
// else, and that nothing notices, could as well be a mistake.
package mutants

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// Mutant is a primitive with one change. Where the change is of one expression, Was and Is are that expression.
type Mutant struct {
	Part      string // what was changed: "Post[0].Value.Rank"
	Change    string // how: "0 instead of root"
	Primitive spec.Primitive

	Was, Is spec.Expr
	Field   string   // the innermost field that holds the expression
	Buf     spec.Buf // the buffer that the expression mentions, if any
}

// Of returns all mutants of p. What is meant for people, and the examples, are as in p.
func Of(p spec.Primitive) []Mutant {
	var all []Mutant
	for _, v := range variants(reflect.ValueOf(p)) {
		v.m.Primitive, v.m.Part = v.is.Interface().(spec.Primitive), strings.TrimPrefix(v.m.Part, ".")
		all = append(all, v.m)
	}
	return all
}

// String says what was changed, and how.
func (m Mutant) String() string { return m.Part + ": " + m.Change }

// variant is a changed copy of a value, and the mutant that it is part of.
type variant struct {
	is reflect.Value
	m  Mutant
}

func variants(v reflect.Value) []variant {
	switch x := v.Interface().(type) {
	case spec.Expr:
		return exprVariants(x)
	case spec.Buf:
		return others(x, spec.In, spec.Out, spec.Scratch, "")
	case spec.Param:
		return others(x, spec.ParamOp, spec.ParamRoot, spec.ParamPeer)
	case spec.ValueKind:
		return others(x, spec.Undefined, spec.Input, spec.Fold, spec.Entered, spec.Unchanged)
	case spec.Order:
		return others(x, spec.AnyTree, spec.SameTree, spec.RankOrdered)
	case string:
		return others(x, x+"X")
	}
	if v.Kind() == reflect.Slice {
		return sliceVariants(v)
	}
	return structVariants(v)
}

// others returns all values but x.
func others[T comparable](x T, all ...T) []variant {
	var vs []variant
	for _, y := range all {
		if y != x {
			vs = append(vs, variant{reflect.ValueOf(y), Mutant{Change: fmt.Sprintf("%v instead of %v", y, x)}})
		}
	}
	return vs
}

// sliceVariants drops one element, or changes one.
func sliceVariants(v reflect.Value) []variant {
	var vs []variant
	for i := range v.Len() {
		dropped := reflect.AppendSlice(clone(v).Slice(0, i), v.Slice(i+1, v.Len()))
		vs = append(vs, variant{dropped, Mutant{Part: fmt.Sprintf("[%d]", i), Change: "dropped"}})
		for _, e := range variants(v.Index(i)) {
			changed := clone(v)
			changed.Index(i).Set(e.is)
			e.is, e.m.Part = changed, fmt.Sprintf("[%d]%s", i, e.m.Part)
			vs = append(vs, e)
		}
	}
	return vs
}

func clone(v reflect.Value) reflect.Value {
	return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
}

// structVariants changes one field, but not the words that are meant for people, or the examples.
func structVariants(v reflect.Value) []variant {
	var vs []variant
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Doc" || name == "Reason" || name == "Examples" {
			continue
		}
		for _, f := range variants(v.Field(i)) {
			changed := reflect.New(v.Type()).Elem()
			changed.Set(v)
			changed.Field(i).Set(f.is)
			f.is, f.m.Part = changed, "."+name+f.m.Part
			if f.m.Field == "" {
				f.m.Field = name
			}
			if name == "In" || name == "Out" {
				f.m.Buf = map[string]spec.Buf{"In": spec.In, "Out": spec.Out}[name]
			}
			if c, ok := v.Interface().(spec.Clause); ok {
				f.m.Buf = c.Buf
			}
			vs = append(vs, f)
		}
	}
	return vs
}

// leaves are what any expression may be replaced by.
var leaves = []spec.Expr{spec.Int(0), spec.Int(1), spec.Rank, spec.Size, spec.Root, spec.Peer, spec.Block, spec.Q,
	spec.Sub(spec.Size, spec.Int(1)), spec.Eq(spec.Rank, spec.Int(0)), spec.Eq(spec.Rank, spec.Root)}

var logic = []spec.ExprKind{spec.EqExpr, spec.NeExpr, spec.LtExpr, spec.LeExpr, spec.AndExpr, spec.OrExpr}

func exprVariants(e spec.Expr) []variant {
	is := append(inside(e), leaves...)
	if !e.IsAbsent() {
		is = append(is, spec.Expr{}, spec.Add(e, spec.Int(1)), spec.Sub(e, spec.Int(1)), spec.Not(e))
	}
	var vs []variant
	for _, x := range is {
		if x.String() != e.String() {
			vs = append(vs, variant{reflect.ValueOf(x), Mutant{Change: fmt.Sprintf("%v instead of %v", x, e), Was: e, Is: x}})
		}
	}
	return vs
}

// inside returns e with another operator, or with one operand changed.
func inside(e spec.Expr) []spec.Expr {
	var all []spec.Expr
	if slices.Contains(logic, e.Kind) {
		for _, k := range logic {
			all = append(all, spec.Expr{Kind: k, Args: e.Args})
		}
	}
	for i, a := range e.Args {
		for _, v := range exprVariants(a) {
			args := slices.Clone(e.Args)
			args[i] = v.is.Interface().(spec.Expr)
			all = append(all, spec.Expr{Kind: e.Kind, Args: args})
		}
	}
	return all
}
