package golang

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

func TestLet(t *testing.T) {
	k, d, ok := spec.Var("k"), spec.Var("d"), spec.Var("ok")
	for _, test := range []struct {
		is   spec.Expr
		want string
	}{
		{spec.Add(p, i(1)), "v := rank + 1"},
		{spec.Lt(p, n), "v := rank < size"},
		{spec.CeilLog2(n), "v := bits.Len(uint(size - 1))"},
		{spec.Up(spec.Add(p, i(1)), n), `
v := rank + 1
if v >= size {
	v -= size
}`},
		{spec.Down(spec.Sub(p, i(1)), n), `
v := rank - 1
if v < 0 {
	v += size
}`},
		{spec.Up(p, n), `
v := rank
if rank >= size {
	v -= size
}`},
		{spec.Up(spec.Add(p, spec.Shl(i(1), k)), n), `
v := rank + 1<<k
if v >= size {
	v -= size
}`},
		{spec.If(spec.Eq(p, q), i(0), p), `
v := rank
if rank == root {
	v = 0
}`},
		{spec.If(ok, spec.Lt(p, n), i(0)), `
v := false
if ok {
	v = rank < size
}`},
		{spec.If(ok, p, spec.If(spec.Eq(p, q), n, i(7))), `
v := 7
if ok {
	v = rank
} else if rank == root {
	v = size
}`},
		// A shift by d, which may be negative, is not to be evaluated in vain.
		{spec.If(spec.Lt(d, i(0)), p, spec.Shl(i(1), d)), `
v := rank
if d >= 0 {
	v = 1 << d
}`},
		{spec.If(spec.Lt(d, i(0)), p, spec.Add(spec.Shr(n, d), i(1))), `
v := rank
if d >= 0 {
	v = size>>d + 1
}`},
		{spec.If(spec.Le(i(0), d), spec.Shr(n, d), p), `
v := rank
if d >= 0 {
	v = size >> d
}`},
		{spec.If(spec.Le(i(0), d), spec.Shr(n, d), spec.Shr(p, spec.Sub(i(0), d))), `
var v int
if d >= 0 {
	v = size >> d
} else {
	v = rank >> -d
}`},
		{spec.If(spec.Lt(d, i(0)), spec.Shr(p, spec.Sub(i(0), d)), spec.Shl(p, d)), `
var v int
if d < 0 {
	v = rank >> -d
} else {
	v = rank << d
}`},
		// So is a division by k, which may be 0, and not one by size.
		{spec.If(spec.Eq(k, i(0)), p, spec.Div(p, k)), `
v := rank
if k != 0 {
	v = rank / k
}`},
		{spec.If(spec.Lt(p, q), p, spec.Mod(p, n)), `
v := rank % size
if rank < root {
	v = rank
}`},
	} {
		code, err := testScope().let("v", test.is)
		if err != nil {
			t.Errorf("%v: %v", test.is, err)
			continue
		}
		if d := cmp.Diff(strings.TrimSpace(test.want), formatted(code...)); d != "" {
			t.Errorf("%v: %s", test.is, d)
		}
	}
}

func TestLetRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		is   spec.Expr
		want string
	}{
		{"rank", n, "is already defined"},
		{"func", n, "cannot be the name"},
		{"1st", n, "cannot be the name"},
		{"ctx", n, "choose another"},
		{"v", spec.If(spec.Var("ok"), spec.If(spec.Var("ok"), p, n), n), "give it a name with Let"},
		{"v", spec.If(spec.Var("ok"), spec.Lt(p, n), n), ""}, // a number counts as a truth value
		{"v", spec.If(spec.Var("v"), p, n), "depends on an earlier v"},
	} {
		_, err := testScope().let(test.name, test.is)
		if test.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s is %v: error %v, want %q in it", test.name, test.is, err, test.want)
		}
	}
}

func TestLetBuf(t *testing.T) {
	s := testScope()
	code, err := s.letBuf(gen.LetBuf{Name: "data", Cond: spec.Eq(p, q), Then: spec.In, Else: spec.Scratch})
	if err != nil {
		t.Fatal(err)
	}
	more, err := s.letBuf(gen.LetBuf{Name: "sum", Cond: spec.Var("ok"), Then: spec.Out, Else: "data"})
	if err != nil {
		t.Fatal(err)
	}
	want := `data := &x.Scratch
if rank == root {
	data = &x.In
}
sum := data
if ok {
	sum = &x.Out
}`
	if d := cmp.Diff(want, formatted(append(code, more...)...)); d != "" {
		t.Error(d)
	}
	for _, bad := range []gen.LetBuf{
		{Name: "data", Cond: p, Then: spec.In, Else: spec.Out},
		{Name: "out", Cond: p, Then: spec.In, Else: spec.Out},
		{Name: "more", Cond: p, Then: spec.In, Else: "nothing"},
		{Name: "more", Cond: spec.Up(p, n), Then: spec.In, Else: spec.Out},
	} {
		if code, err := s.letBuf(bad); err == nil {
			t.Errorf("%v is printed as %s", bad, formatted(code...))
		}
	}
}
