package golang

import (
	"fmt"
	"go/format"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
	"github.com/google/go-cmp/cmp"
)

// sumOf is a Fold that works out sum.
func sumOf(first, next, turns spec.Expr) gen.Node {
	return gen.Fold{Var: "t", N: turns, State: []gen.State{{Name: "sum", First: first, Next: next}}}
}

func TestFold(t *testing.T) {
	sum, other, turn := spec.Var("sum"), spec.Var("other"), spec.Var("t")
	for _, test := range []struct {
		fold gen.Fold
		want string
	}{
		{gen.Fold{State: []gen.State{{Name: "sum", First: p, Next: spec.Add(sum, turn)}}}, `
sum := rank
for t := range size {
	sum += t
}`},
		{gen.Fold{When: spec.Lt(sum, n), State: []gen.State{{Name: "sum", First: spec.Up(p, n), Next: spec.Shl(sum, i(1))}}}, `
sum := rank
if rank >= size {
	sum -= size
}
for range size {
	if sum < size {
		sum = sum << 1
	}
}`},
		{gen.Fold{State: []gen.State{{Name: "sum", First: i(0), Next: other}, {Name: "other", First: i(1), Next: spec.Add(sum, other)}}}, `
sum := 0
other := 1
for range size {
	sum, other = other, sum+other
}`},
		// Nobody needs the other one.
		{gen.Fold{State: []gen.State{{Name: "sum", First: i(0), Next: spec.Sub(sum, turn)}, {Name: "other", First: i(1), Next: sum}}}, `
sum := 0
for t := range size {
	sum -= t
}`},
		{gen.Fold{Body: []gen.Node{gen.Let{Name: "z", Is: spec.Down(spec.Sub(sum, turn), n)}, gen.Let{Name: "no", Is: n}},
			State: []gen.State{{Name: "sum", First: i(0), Next: spec.Var("z")}}}, `
sum := 0
for t := range size {
	z := sum - t
	if z < 0 {
		z += size
	}
	sum = z
}`},
	} {
		test.fold.Var, test.fold.N = "t", n
		list, _ := prune(new(lowering).nodes([]gen.Node{test.fold}), []string{"sum"})
		code, err := testScope().list(list, false)
		if err != nil {
			t.Errorf("%v: %v", test.fold, err)
			continue
		}
		if d := cmp.Diff(strings.TrimSpace(test.want), formatted(code...)); d != "" {
			t.Error(d)
		}
	}
}

// folds draws Folds of all that they can have, but for expressions without a value.
type folds struct {
	*rand.Rand
	next int
}

func (r *folds) fresh() string {
	r.next++
	return fmt.Sprintf("v%d", r.next)
}

func (r *folds) number(names []string, depth int) spec.Expr {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(3) == 0 {
			return i(r.IntN(9) - 2)
		}
		return spec.Var(names[r.IntN(len(names))])
	}
	x, y := r.number(names, depth-1), r.number(names, depth-1)
	ops := []func(x, y spec.Expr) spec.Expr{spec.Add, spec.Sub, spec.Mul, spec.Min, spec.Max, spec.BitAnd, spec.BitOr,
		spec.BitXor}
	if op := r.IntN(len(ops) + 1); op < len(ops) {
		return ops[op](x, y)
	}
	return spec.Shr(x, spec.BitAnd(y, i(7)))
}

// value draws one, which may be a conditional.
func (r *folds) value(names []string) spec.Expr {
	if r.IntN(3) > 0 {
		return r.number(names, 2)
	}
	return spec.If(spec.Lt(r.number(names, 1), r.number(names, 1)), r.number(names, 2), r.number(names, 2))
}

// fold draws a Fold over names, to which it returns those that it adds.
func (r *folds) fold(names []string, depth int) (gen.Fold, []string) {
	n := gen.Fold{Var: r.fresh(), N: spec.BitAnd(r.number(names, 1), i(7))}
	outer := names[:len(names):len(names)]
	for range 1 + r.IntN(3) {
		n.State = append(n.State, gen.State{Name: r.fresh(), First: r.value(names)})
	}
	for _, x := range n.State {
		outer = append(outer, x.Name)
	}
	inner := append(outer[:len(outer):len(outer)], n.Var)
	for range r.IntN(3) {
		if depth > 0 {
			var fold gen.Fold
			fold, inner = r.fold(inner, depth-1)
			n.Body = append(n.Body, fold)
		}
		let := gen.Let{Name: r.fresh(), Is: r.value(inner)}
		n.Body, inner = append(n.Body, let), append(inner, let.Name)
	}
	if r.IntN(2) == 0 {
		n.When = spec.Ne(spec.BitAnd(r.number(inner, 2), i(3)), i(0))
	}
	for at := range n.State {
		n.State[at].Next = r.number(inner, 2)
	}
	return n, outer
}

// TestFoldMeansTheSame compiles and runs what is printed for random folds, and compares it with their schedules: where
// the last number says that rank 37 of 64 copies to.
func TestFoldMeansTheSame(t *testing.T) {
	r := &folds{Rand: rand.New(rand.NewPCG(1, 2))}
	params := gen.Params{Size: 64, Root: 5, Depth: 1}
	var program strings.Builder
	var want strings.Builder
	program.WriteString("package main\n\nimport \"fmt\"\n\nfunc main() {\nrank, size := 37, 64\n")
	for number := range 200 {
		fold, names := r.fold([]string{"rank", "size"}, 2)
		result := spec.BitAnd(spec.Var(names[len(names)-1]), i(63))
		a := gen.Algorithm{Name: "any", Primitive: spec.AllGather,
			Body: []gen.Node{fold, gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, result), From: gen.Chunk(spec.In, i(0))}}}}
		for step, err := range gen.Steps(&a, params, 37) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&want, number, step[0].Dst.At)
		}
		if number%2 == 1 {
			a = gen.Prune(gen.Simplify(a))
		}
		list, _ := prune(new(lowering).nodes(a.Body[:len(a.Body)-1]), names)
		s := testScope()
		code, err := s.list(list, false)
		if err != nil {
			t.Fatalf("%v\n%s", err, a.Text())
		}
		into, err := s.number(a.Body[len(a.Body)-1].(gen.Step)[0].(gen.Copy).Into.At)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, jen.Id("fmt").Dot("Println").Call(jen.Lit(number), into))
		for _, name := range letNames(list) {
			code = append(code, jen.Id("_").Op("=").Id(name))
		}
		fmt.Fprintf(&program, "{\n%s\n}\n", formatted(code...))
	}
	program.WriteString("_, _ = rank, size\n}\n")
	text, err := format.Source([]byte(program.String()))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, got, text)
	}
	if d := cmp.Diff(want.String(), string(got)); d != "" {
		t.Errorf("%s\n%s", d, text)
	}
}
