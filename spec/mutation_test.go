package spec_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestMutants changes every part of every primitive in every way that mutants knows. Each changed primitive has to be
// found out by Validate, the examples or the refusals, unless it says the same as before on all calls.
func TestMutants(t *testing.T) {
	for _, p := range spec.Primitives() {
		t.Run(p.Name, func(t *testing.T) {
			killed := 0
			for _, m := range mutants(p) {
				switch {
				case check(m.p, p.Name) != nil:
					killed++
				case !m.same(p):
					t.Errorf("nothing noticed: %s", m.what)
				}
				if m.p.Hash() == p.Hash() {
					t.Errorf("the hash is the same: %s", m.what)
				}
			}
			t.Logf("%d mutants were found out", killed)
			if err := check(p, p.Name); err != nil || killed < 50 {
				t.Errorf("this test is broken: the primitive itself: %v", err)
			}
		})
	}
}

// check is everything that guards p.
func check(p spec.Primitive, name string) error {
	if p.Name != name {
		return fmt.Errorf("it is called %s", p.Name)
	}
	if err := spec.Validate(p); err != nil {
		return err
	}
	for _, x := range spectest.Examples {
		if x.Primitive == name {
			if err := checkExample(p, x); err != nil {
				return err
			}
		}
	}
	for _, x := range spectest.Refusals {
		if x.Primitive == name {
			if err := checkRefusal(p, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// mutant is a primitive with one change. Where the change is of one expression, was and is are that expression.
type mutant struct {
	what    string
	p       spec.Primitive
	was, is spec.Expr
	field   string   // the innermost field that holds the expression
	buf     spec.Buf // the buffer that the expression speaks of, if any
}

func mutants(p spec.Primitive) []mutant {
	var all []mutant
	for _, v := range variants(reflect.ValueOf(p)) {
		v.m.p = v.is.Interface().(spec.Primitive)
		all = append(all, v.m)
	}
	return all
}

// variant is a changed copy of a value, and the mutant that it is part of.
type variant struct {
	is reflect.Value
	m  mutant
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

// others are all values but x.
func others[T comparable](x T, all ...T) []variant {
	var vs []variant
	for _, y := range all {
		if y != x {
			vs = append(vs, variant{reflect.ValueOf(y), mutant{what: fmt.Sprintf(": %v instead of %v", y, x)}})
		}
	}
	return vs
}

// sliceVariants drops one element, or changes one.
func sliceVariants(v reflect.Value) []variant {
	var vs []variant
	for i := range v.Len() {
		dropped := reflect.AppendSlice(clone(v).Slice(0, i), v.Slice(i+1, v.Len()))
		vs = append(vs, variant{dropped, mutant{what: fmt.Sprintf("[%d]: dropped", i)}})
		for _, e := range variants(v.Index(i)) {
			changed := clone(v)
			changed.Index(i).Set(e.is)
			e.is, e.m.what = changed, fmt.Sprintf("[%d]%s", i, e.m.what)
			vs = append(vs, e)
		}
	}
	return vs
}

func clone(v reflect.Value) reflect.Value {
	return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
}

// structVariants changes one field, but not the words that are meant for people.
func structVariants(v reflect.Value) []variant {
	var vs []variant
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Doc" || name == "Reason" {
			continue
		}
		for _, f := range variants(v.Field(i)) {
			changed := reflect.New(v.Type()).Elem()
			changed.Set(v)
			changed.Field(i).Set(f.is)
			f.is, f.m.what = changed, "."+name+f.m.what
			if f.m.field == "" {
				f.m.field = name
			}
			if name == "In" || name == "Out" {
				f.m.buf = map[string]spec.Buf{"In": spec.In, "Out": spec.Out}[name]
			}
			if c, ok := v.Interface().(spec.Clause); ok {
				f.m.buf = c.Buf
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
			vs = append(vs, variant{reflect.ValueOf(x), mutant{what: fmt.Sprintf(": %v instead of %v", x, e), was: e, is: x}})
		}
	}
	return vs
}

// inside is e with another operator, or with one operand changed.
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

// same tells whether the mutant's expression has the same value as that of p wherever p evaluates it. It asks nothing
// of Expect, which is under test here.
func (m mutant) same(p spec.Primitive) bool {
	if m.field == "" || m.was.IsAbsent() && m.is.IsAbsent() {
		return false
	}
	isTruth := m.field == "On" || m.field == "Where" || m.field == "When"
	for size := 1; size <= 5; size++ {
		for rank := range size {
			for root := range size {
				for peer := range size {
					for _, env := range m.places(p, spec.Call{Size: size, Root: root, Peer: peer}, rank) {
						if !sameValue(m.was, m.is, env, isTruth) {
							return false
						}
					}
				}
			}
		}
	}
	return true
}

// places are the environments in which p evaluates the expression on one rank.
func (m mutant) places(p spec.Primitive, c spec.Call, rank int) []spec.Env {
	env := c.Env(rank)
	in, _ := p.In.Len(env)
	out, _ := p.Out.Len(env)
	switch {
	case m.field == "When":
		return refused(c, rank)
	case refuses(p, env):
		return nil
	case m.field == "On":
		return []spec.Env{env}
	case m.field == "Blocks":
		on := map[spec.Buf]spec.Expr{spec.In: p.In.On, spec.Out: p.Out.On}[m.buf]
		if v, err := on.OrElse(spec.Int(1)).Eval(env); err == nil && v == 0 {
			return nil
		}
		return []spec.Env{env}
	case m.field == "InBlock" || m.field == "OutBlock":
		if in == 0 || out == 0 {
			return nil
		}
		return []spec.Env{env}
	case m.buf == spec.In:
		return blocks(env, in, c.Size)
	}
	return blocks(env, out, c.Size)
}

func refuses(p spec.Primitive, env spec.Env) bool {
	return slices.ContainsFunc(p.Errors, func(a spec.ArgError) bool {
		v, err := a.When.Eval(env)
		return err == nil && v != 0
	})
}

// blocks binds block and q in every way.
func blocks(env spec.Env, n, size int) []spec.Env {
	var all []spec.Env
	for b := range n {
		for q := range size {
			all = append(all, append(slices.Clone(env), spec.Binding{Name: "block", Value: b}, spec.Binding{Name: "q", Value: q}))
		}
	}
	return all
}

// refused are calls in and out of range.
func refused(c spec.Call, rank int) []spec.Env {
	var all []spec.Env
	for _, d := range []int{0, c.Size, -c.Size, 3 * c.Size} {
		root, peer := c, c
		root.Root += d
		peer.Peer += d
		all = append(all, root.Env(rank), peer.Env(rank))
	}
	return all
}

func sameValue(was, is spec.Expr, env spec.Env, isTruth bool) bool {
	absent := spec.Int(1) // what an absent condition stands for
	if !isTruth && (was.IsAbsent() || is.IsAbsent()) {
		return false
	}
	x, err1 := was.OrElse(absent).Eval(env)
	y, err2 := is.OrElse(absent).Eval(env)
	if err1 != nil || err2 != nil {
		return false
	}
	return x == y || isTruth && (x != 0) == (y != 0)
}
