package spec_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/mutants"
	"github.com/collgen/collgen/spec/spectest"
)

// TestMutants changes every part of every primitive in every way that package mutants knows. Each changed primitive has
// to be found out by Validate, the examples or the refusals, unless it says the same as before on all calls.
func TestMutants(t *testing.T) {
	for _, p := range spec.Primitives() {
		t.Run(p.Name, func(t *testing.T) {
			killed := 0
			for _, m := range mutants.Of(p) {
				switch {
				case check(m.Primitive, p.Name) != nil:
					killed++
				case !isSame(p, m):
					t.Errorf("nothing noticed: %v", m)
				}
				if m.Primitive.Hash() == p.Hash() {
					t.Errorf("the hash is the same: %v", m)
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
	for _, x := range slices.Concat(spectest.Examples, spectest.Uneven) {
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

// isSame reports whether the mutant's expression has the same value as that of p wherever p evaluates it. It asks
// nothing of Expect, which is under test here.
func isSame(p spec.Primitive, m mutants.Mutant) bool {
	if m.Field == "" || m.Was.IsAbsent() && m.Is.IsAbsent() {
		return false
	}
	isTruth := m.Field == "On" || m.Field == "Where" || m.Field == "When"
	for size := 1; size <= 5; size++ {
		for rank := range size {
			for root := range size {
				for peer := range size {
					for _, env := range places(p, m, spec.Call{Size: size, Root: root, Peer: peer}, rank) {
						if !sameValue(m.Was, m.Is, env, isTruth) {
							return false
						}
					}
				}
			}
		}
	}
	return true
}

// places returns the environments in which p evaluates the expression on one rank.
func places(p spec.Primitive, m mutants.Mutant, c spec.Call, rank int) []spec.Env {
	env := c.Env(rank)
	in, _ := p.In.Len(env)
	out, _ := p.Out.Len(env)
	switch {
	case m.Field == "When":
		return refused(c, rank)
	case refuses(p, env):
		return nil
	case m.Field == "On":
		return []spec.Env{env}
	case m.Field == "Blocks":
		on := map[spec.Buf]spec.Expr{spec.In: p.In.On, spec.Out: p.Out.On}[m.Buf]
		if v, err := on.OrElse(spec.Int(1)).Eval(env); err == nil && v == 0 {
			return nil
		}
		return []spec.Env{env}
	case m.Field == "InBlock" || m.Field == "OutBlock":
		if in == 0 || out == 0 {
			return nil
		}
		return []spec.Env{env}
	case m.Buf == spec.In:
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
			all = append(all, append(slices.Clone(env), spec.Binding{Name: "block", Value: b},
				spec.Binding{Name: "q", Value: q}))
		}
	}
	return all
}

// refused returns calls in and out of range.
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
