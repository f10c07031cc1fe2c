package gen_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// passes are the transformations that keep schedules as they are.
var passes = map[string]func(gen.Algorithm) gen.Algorithm{"simplify": gen.Simplify, "prune": gen.Prune}

func TestPassesKeepSchedules(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		for name, pass := range passes {
			after := pass(a)
			if err := gen.Validate(&after); err != nil {
				t.Error(name, err)
			}
			for _, size := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 23} {
				for _, p := range a.Calls(size, 1, 3) {
					if before, now := instantiate(t, &a, p), instantiate(t, &after, p); !reflect.DeepEqual(before, now) {
						t.Fatalf("%s changes %s, %+v: %s", name, a.FullName(), p, cmp.Diff(before, now))
					}
				}
			}
			if twice := pass(after); twice.Text() != after.Text() {
				t.Errorf("%s changes %s again", name, a.FullName())
			}
		}
	}
}

func instantiate(t interface{ Fatal(...any) }, a *gen.Algorithm, p gen.Params) *gen.Schedule {
	s, err := gen.Instantiate(a, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPassesKeepRandomSchedules makes programs of local actions, with names, conditions and loops that are often
// decided.
func TestPassesKeepRandomSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := gen.Algorithm{Name: "random", Primitive: spec.AllToAll, Doc: "A doc.", Source: "New.", Scratch: one}
		a.Body = randomBody(t, []string{"rank", "size"}, 3)
		if err := gen.Validate(&a); err != nil {
			t.Fatal(err)
		}
		for name, pass := range passes {
			after := pass(a)
			if err := gen.Validate(&after); err != nil {
				t.Fatalf("%s: %v\n%s\n%s", name, err, a.Text(), after.Text())
			}
			for size := 1; size <= 3; size++ {
				p := gen.Params{Size: size, Depth: 1}
				want, got := instantiate(t, &a, p), instantiate(t, &after, p)
				forgetSource(want, got)
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("%s changes %s into %s: %s", name, a.Text(), after.Text(), d)
				}
			}
		}
	})
}

// forgetSource forgets which action every instruction comes from.
func forgetSource(schedules ...*gen.Schedule) {
	for _, s := range schedules {
		for rank := range s.Ranks {
			for i := range s.Ranks[rank].Instrs {
				s.Ranks[rank].Instrs[i].Node = -1
			}
		}
	}
}

// randomBody returns a body in which names have a meaning.
func randomBody(t *rapid.T, names []string, depth int) []gen.Node {
	var body []gen.Node
	names = slices.Clone(names)
	bufs := []spec.Buf{in, out}
	for range rapid.IntRange(0, 3).Draw(t, "nodes") {
		name := fmt.Sprintf("v%d", len(names))
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 5:
			body = append(body, randomFold(t, names, depth))
			names = append(names, given(body[len(body)-1].(gen.Fold))...)
		case kind == 0:
			body = append(body, let(name, randomExpr(t, names, 2)))
			names = append(names, name)
		case kind == 1:
			body = append(body, letBuf(spec.Buf(name), randomExpr(t, names, 1), in, out))
			bufs, names = append(bufs, spec.Buf(name)), append(names, "size") // the name is taken
		case kind == 2 && depth > 0:
			body = append(body, when(randomExpr(t, names, 1), randomBody(t, names, depth-1), randomBody(t, names, depth-1)))
		case kind == 3 && depth > 0:
			times := rapid.SampledFrom([]expr{zero, one, two, rank}).Draw(t, "times")
			body = append(body, loop(name, times, randomBody(t, append(names, name), depth-1)))
		default:
			from := rapid.SampledFrom(bufs).Draw(t, "from")
			at := least(most(randomExpr(t, names, 2), zero), sub(size, one))
			body = append(body, gen.Step{gen.Copy{Into: gen.Chunk(out, at), From: gen.Chunk(from, at)}})
		}
	}
	return body
}

// randomFold returns a Fold in which names have a meaning, of few turns.
func randomFold(t *rapid.T, names []string, depth int) gen.Fold {
	names = slices.Clone(names)
	n := gen.Fold{N: rapid.SampledFrom([]expr{zero, one, rank, spec.Int(3)}).Draw(t, "turns")}
	for range rapid.IntRange(1, 3).Draw(t, "state") {
		x := gen.State{Name: fmt.Sprintf("v%d", len(names)+len(n.State)), First: randomExpr(t, names, 2)}
		n.State = append(n.State, x)
	}
	names = append(names, given(n)...)
	n.Var = fmt.Sprintf("v%d", len(names))
	names = append(names, n.Var)
	for range rapid.IntRange(0, 2).Draw(t, "inside") {
		if depth > 0 && rapid.IntRange(0, 3).Draw(t, "isFold") == 0 {
			inner := randomFold(t, names, depth-1)
			n.Body, names = append(n.Body, inner), append(names, given(inner)...)
			continue
		}
		name := fmt.Sprintf("v%d", len(names))
		n.Body, names = append(n.Body, let(name, randomExpr(t, names, 2))), append(names, name)
	}
	if rapid.Bool().Draw(t, "isWhen") {
		n.When = randomExpr(t, names, 1)
	}
	for i := range n.State {
		n.State[i].Next = randomExpr(t, names, 2)
	}
	return n
}

// given returns the names that n gives.
func given(n gen.Fold) (names []string) {
	for _, x := range n.State {
		names = append(names, x.Name)
	}
	return names
}

// randomExpr returns an expression that has a value whatever names are.
func randomExpr(t *rapid.T, names []string, depth int) expr {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "isName") {
			return v(rapid.SampledFrom(names).Draw(t, "name"))
		}
		return spec.Int(rapid.IntRange(-2, 3).Draw(t, "n"))
	}
	x, y := randomExpr(t, names, depth-1), randomExpr(t, names, depth-1)
	switch kind := spec.ExprKind(rapid.IntRange(int(spec.AddExpr), int(spec.ReverseExpr)).Draw(t, "op")); kind {
	case spec.NotExpr:
		return spec.Not(x)
	case spec.DivExpr, spec.ModExpr:
		return expr{Kind: kind, Args: []expr{most(x, zero), most(y, one)}}
	case spec.ShlExpr, spec.ShrExpr, spec.ReverseExpr:
		return expr{Kind: kind, Args: []expr{x, bitAnd(y, spec.Int(3))}}
	case spec.CondExpr: // has no place inside other expressions
		return spec.Not(y)
	case spec.Log2Expr:
		return log2(most(x, one))
	default:
		return expr{Kind: kind, Args: []expr{x, y}}
	}
}

func TestSimplifyKeepsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := randomExpr(t, []string{"x", "y"}, 4)
		if rapid.Bool().Draw(t, "conditional") {
			e = cond(e, randomExpr(t, []string{"x", "y"}, 3), randomExpr(t, []string{"x", "y"}, 3))
		}
		env := spec.Env{{Name: "x", Value: rapid.IntRange(-5, 70).Draw(t, "x")},
			{Name: "y", Value: rapid.IntRange(-5, 70).Draw(t, "y")}}
		want, err := e.Eval(env)
		if err != nil {
			t.Skip("has no value")
		}
		s := gen.SimplifyInside(e)
		if got, err := s.Eval(env); err != nil || got != want {
			t.Fatalf("%v is %d, and simplified, %v, it is %d, %v", e, want, s, got, err)
		}
		if len(s.String()) > len(e.String())+2 {
			t.Fatalf("%v is simplified to %v", e, s)
		}
	})
}

func TestSimplifyExpressions(t *testing.T) {
	x, y := v("x"), v("y")
	for _, tc := range []struct {
		e    expr
		want string
	}{
		{add(two, mul(two, spec.Int(3))), "8"},
		{add(x, zero), "x"}, {add(zero, x), "x"}, {sub(x, zero), "x"}, {mul(one, x), "x"}, {mul(x, zero), "0"},
		{sub(add(x, one), one), "x"}, {add(sub(x, one), two), "x + 1"}, {sub(sub(x, one), two), "x - 3"},
		{add(one, add(two, x)), "x + 3"}, {sub(add(x, two), add(y, one)), "(x - y) + 1"},
		{sub(x, add(y, one)), "x - (y + 1)"}, {sub(one, add(x, two)), "1 - (x + 2)"},
		{sub(x, x), "0"}, {eq(x, x), "1"}, {lt(x, x), "0"}, {most(x, x), "x"}, {bitXor(x, x), "0"},
		{shl(x, zero), "x"}, {bitAnd(x, zero), "0"},
		{and(one, eq(x, y)), "x == y"}, {and(x, zero), "0"}, {or(two, x), "1"}, {or(zero, lt(x, y)), "x < y"},
		{or(eq(x, y), zero), "x == y"}, {or(one, zero), "1"}, {and(one, x), "1 && x"}, {or(x, zero), "x || 0"},
		{spec.Not(spec.Not(eq(x, y))), "x == y"}, {spec.Not(spec.Not(x)), "!!x"},
		{cond(one, x, y), "x"}, {cond(zero, x, y), "y"}, {cond(x, y, y), "y"}, {up(zero, one), "0"},
		{shl(x, spec.Int(-1)), "x << -1"},
		{spec.Div(spec.Int(7), two), "3"}, {spec.Mod(spec.Int(7), two), "1"}, {spec.Div(x, one), "x"},
		{spec.Mod(x, one), "0"},
		{spec.Div(one, x), "1 / x"}, {spec.Mod(one, x), "1 % x"}, {spec.Div(x, x), "1"}, {spec.Mod(x, x), "0"},
		// they have no value
		{spec.Div(x, zero), "x / 0"}, {spec.Mod(two, zero), "2 % 0"}, {spec.Div(spec.Int(-7), two), "-7 / 2"},
		{spec.BitOr(zero, x), "x"}, {spec.BitOr(x, spec.Int(-1)), "-1"}, {spec.BitOr(x, x), "x"}, {spec.BitOr(one, two), "3"},
	} {
		if got := gen.SimplifyInside(tc.e).String(); got != tc.want {
			t.Errorf("%v becomes %s, want %s", tc.e, got, tc.want)
		}
	}
}

// TestSimplifyKeepsScopes: a body that is always done keeps its own scope where its names are given again, also
// deep inside what follows.
func TestSimplifyKeepsScopes(t *testing.T) {
	a := sound()
	bit := bitAnd(rank, one) // of a constant the name would be gone
	named := func(is expr) []gen.Node {
		return []gen.Node{let("x", is), gen.Step{gen.Copy{Into: gen.Chunk(out, v("x")), From: gen.Chunk(in, v("x"))}}}
	}
	for _, again := range []gen.Node{
		gen.If{Cond: eq(rank, zero), Then: named(bitXor(bit, one))},
		loop("x", two, named(zero)[1:]),
	} {
		a.Body = []gen.Node{gen.If{Cond: one, Then: named(bit)}, again}
		if err := gen.Validate(a); err != nil {
			t.Fatal(err)
		}
		b := gen.Simplify(*a)
		if err := gen.Validate(&b); err != nil {
			t.Errorf("%v\n%s", err, b.Text())
		}
	}
}

func TestPassesRemove(t *testing.T) {
	act := gen.Step{gen.Copy{Into: gen.Chunk(out, v("x")), From: block(in)}}
	set := func(name string, is expr) gen.Node { return let(name, is) }
	count := func(name string, next expr, body ...gen.Node) gen.Node {
		return gen.Fold{Var: "i", N: size, State: []gen.State{{Name: name, First: rank, Next: next}}, Body: body}
	}
	for _, tc := range []struct {
		name       string
		pass       func(gen.Algorithm) gen.Algorithm
		body, want []gen.Node
	}{
		{"an unused name", gen.Prune, []gen.Node{set("x", rank), set("y", v("x")), set("z", v("y")), act},
			[]gen.Node{set("x", rank), act}},
		{"an unused buffer", gen.Prune, []gen.Node{set("x", rank), letBuf("b", rank, in, out), letBuf("c", rank, "b", out),
			act}, []gen.Node{set("x", rank), act}},
		{"what does nothing", gen.Prune, []gen.Node{when(rank, []gen.Node{loop("i", size, []gen.Node{gen.Step{}})},
			[]gen.Node{set("y", rank)})}, nil},
		{"a constant name", gen.Simplify, []gen.Node{set("x", one), act},
			[]gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(out, one), From: block(in)}}}},
		{"a decided condition", gen.Simplify,
			[]gen.Node{when(zero, []gen.Node{set("x", rank)}, []gen.Node{set("x", size), act})},
			[]gen.Node{set("x", size), act}},
		{"no repetition", gen.Simplify, []gen.Node{loop("x", zero, []gen.Node{act})}, nil},
		{"one repetition", gen.Simplify, []gen.Node{loop("x", one, []gen.Node{act})},
			[]gen.Node{gen.Step{gen.Copy{Into: block(out), From: block(in)}}}},
		{"an unused fold", gen.Prune, []gen.Node{set("x", rank), count("y", v("y")), act}, []gen.Node{set("x", rank), act}},
		{"a name that no turn uses", gen.Prune, []gen.Node{count("x", v("z"), set("y", rank), set("z", size)), act},
			[]gen.Node{count("x", v("z"), set("z", size)), act}},
		{"a fold without turns", gen.Simplify, []gen.Node{gen.Fold{Var: "i", N: zero, State: []gen.State{{Name: "x",
			First: rank, Next: size}}}, act}, []gen.Node{set("x", rank), act}},
		{"a fold that never changes", gen.Simplify, []gen.Node{gen.Fold{Var: "i", N: size, When: lt(one, one),
			State: []gen.State{{Name: "x", First: rank, Next: size}}}, act}, []gen.Node{set("x", rank), act}},
		{"a number that does not change", gen.Simplify,
			[]gen.Node{count("x", add(v("x"), v("zero")), set("zero", zero)), act}, []gen.Node{set("x", rank), act}},
		{"a decided name of a turn", gen.Simplify, []gen.Node{count("x", v("y"), set("y", add(one, one))), act},
			[]gen.Node{count("x", two), act}},
		{"a decided buffer", gen.Simplify, []gen.Node{letBuf("b", one, in, out),
			gen.Step{gen.Copy{Into: block(out), From: block("b")}}}, []gen.Node{gen.Step{gen.Copy{Into: block(out),
			From: block(in)}}}},
		{"a condition whose names are given again", gen.Simplify, []gen.Node{when(two, []gen.Node{set("x", rank), act}, nil),
			set("x", size), act},
			[]gen.Node{when(one, []gen.Node{set("x", rank), act}, nil), set("x", size), act}},
	} {
		a := tc.pass(gen.Algorithm{Primitive: spec.AllToAll, Body: tc.body})
		if d := cmp.Diff(tc.want, a.Body); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

// TestScratchIsMinimal checks that in every size from 4 on some rank of some call uses all the scratch that it asks
// for.
func TestScratchIsMinimal(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		more := a
		more.Scratch = add(a.Scratch.OrElse(zero), one)
		for size := 4; size <= 20; size++ {
			if len(a.Locals(size)) == 0 {
				continue
			}
			if least := leastUnused(t, &a, size); least != 0 {
				t.Errorf("%s, %d ranks: %d slots of scratch are never used", a.FullName(), size, least)
			}
			if least := leastUnused(t, &more, size); least != 1 {
				t.Errorf("%s, %d ranks: an added slot of scratch goes unnoticed", a.FullName(), size)
			}
		}
	}
}

func leastUnused(t *testing.T, a *gen.Algorithm, size int) int {
	all := []int{}
	for _, p := range a.Calls(size, 2) {
		all = append(all, unusedScratch(instantiate(t, a, p))...)
	}
	return slices.Min(all)
}

// unusedScratch is, for each rank, how many of the last slots of scratch that it asks for none of its instructions
// mentions. Scratch is minimal where this is 0 on some rank of some call.
func unusedScratch(s *gen.Schedule) []int {
	unused := make([]int, len(s.Ranks))
	for rank := range s.Ranks {
		p := &s.Ranks[rank]
		used := 0
		for i := range p.Instrs {
			in := &p.Instrs[i]
			for _, place := range append(in.Srcs[:len(in.Srcs):len(in.Srcs)], in.Dst) {
				if place.Buf == spec.Scratch {
					used = max(used, place.At+place.N)
				}
			}
		}
		unused[rank] = p.Scratch - used
	}
	return unused
}
