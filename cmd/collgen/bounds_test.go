package main

import (
	"strings"
	"testing"
)

// This file plants algorithms that are right for all that collgen gen proves, and wrong beyond.

// bounded has an all-gather that forgets ranks beyond 64, one that forgets the last piece at one depth, and a send, for
// which no function is generated. They serve few sizes, so that the proofs are short.
const bounded = `
var rank, size, zero, one = spec.Rank, spec.Size, spec.Int(0), spec.Int(1)

var to, from = spec.Up(spec.Add(spec.Add(rank, spec.Var("t")), one), size), spec.Down(spec.Sub(spec.Sub(rank, spec.Var("t")), one), size)

var few = spec.Le(size, spec.Int(9))

func gather(name string, sizes, turns, chunks, pieces spec.Expr) gen.Algorithm {
	part := func(b spec.Buf, at, n spec.Expr) gen.Region { return gen.Region{Buf: b, At: spec.Mul(at, chunks), N: n} }
	return gen.Algorithm{
		Name: name, Primitive: spec.AllGather, Doc: "Every rank sends its block to others.", Source: "new", Chunks: chunks,
		Requires: gen.Requires{Size: sizes},
		Body: []gen.Node{
			gen.Let{Name: "pieces", Is: pieces},
			gen.Step{gen.Copy{Into: part(spec.Out, rank, chunks), From: part(spec.In, zero, chunks)}},
			gen.Step{gen.For{Var: "t", N: turns, Body: []gen.Node{
				gen.Let{Name: "to", Is: to},
				gen.Let{Name: "from", Is: from},
				gen.Send{To: spec.Var("to"), Data: part(spec.In, zero, spec.Var("pieces"))},
				gen.Recv{From: spec.Var("from"), Into: part(spec.Out, spec.Var("from"), spec.Var("pieces"))},
			}}},
		},
	}
}

var fewer = gather("fewer", spec.Or(few, spec.Ge(size, spec.Int(63))), spec.Min(spec.Sub(size, one), spec.Int(63)), one, one)

var shallow = gather("shallow", few, spec.Sub(size, one), spec.Depth, spec.If(spec.Eq(spec.Depth, spec.Int(DEPTH)), spec.Sub(spec.Depth, one), spec.Depth))

var mine = gen.Algorithm{
	Name: "mine", Primitive: spec.Send, Doc: "One message.", Source: "new",
	Body: []gen.Node{
		gen.If{Cond: spec.Eq(rank, spec.Root), Then: []gen.Node{gen.Step{gen.Send{To: spec.Peer, Data: gen.Chunk(spec.In, zero)}}}},
		gen.If{Cond: spec.Eq(rank, spec.Peer), Then: []gen.Node{gen.Step{gen.Recv{From: spec.Root, Into: gen.Chunk(spec.Out, zero)}}}},
	},
}
`

// boundedProgram makes calls within what was proved and beyond, and prints how many blocks are wrong.
const boundedProgram = `package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/collgen/collgen/fast"
)

func try(name string, size int, opts ...fast.Option) {
	var wrong, refused atomic.Int64
	var others sync.WaitGroup // whose calls are not over: the error of rank 0 ends them
	others.Add(size - 1)
	err := fast.Run(context.Background(), size, func(ctx context.Context, c *fast.Comm) error {
		const count = 20
		src, dst := make([]int32, count), make([]int32, size*count)
		for i := range src {
			src[i] = int32(c.Rank()+1)
		}
		err := AllGatherInto(ctx, c, dst, src, opts...)
		if errors.Is(err, fast.ErrInvalidArgument) {
			refused.Add(1)
			if c.Rank() > 0 {
				others.Done()
				return nil
			}
			others.Wait()
			return err
		}
		for i, x := range dst {
			if err == nil && x != int32(i/count+1) {
				wrong.Add(1)
			}
		}
		return err
	})
	fmt.Printf("%s: %d refused, wrong: %v, %v\n", name, refused.Load(), wrong.Load() > 0, err)
}

func main() {
	try("64", 64)
	try("65", 65)
	try("65 by name", 65, fast.WithAlgorithm("fewer"))
	try("65 unproved", 65, fast.Unproved())
	shallow := fast.WithAlgorithm("shallow")
	try("depth 4", 9, shallow, fast.WithDepth(4))
	try("depth 9", 9, shallow, fast.WithDepth(9))
	try("depth 9 unproved", 9, shallow, fast.WithDepth(9), fast.Unproved())
	try("fewer has no depth", 9, fast.WithDepth(9))
}
`

// TestBounds: what is right up to 64 ranks or depth 4, and wrong beyond, is generated with a word about it, refused
// beyond, and wrong where one allows it. What is wrong within is not generated.
func TestBounds(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.go": small("main", strings.Replace(bounded, "DEPTH", "9", 1)), "main.go": boundedProgram}
	dir := module(t, files)
	status, stdout, stderr := collgen(t, "gen", dir)
	if status != 0 {
		t.Fatalf("status %d\n%s%s", status, stdout, stderr)
	}
	for _, want := range []string{
		"allgather/fewer: proved up to 64 ranks; calls beyond are refused. ",
		"allgather/shallow: proved up to 9 ranks or depth 4; calls beyond are refused. ",
		"send/mine: no function is generated for Send, a primitive between two ranks: nothing calls this algorithm.\n",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("want %q in\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "Examples") {
		t.Errorf("the catalogue's specifications have examples:\n%s", stderr)
	}
	out := goCommand(t, dir, "run", ".")
	for _, want := range []string{
		"64: 0 refused, wrong: false, <nil>\n",
		"65: 65 refused, wrong: false, ", "AllGather: invalid argument: no algorithm is proved for 65 ranks: " +
			`"fewer" is, for up to 64 ranks; "collgen prove -write" proves every number of ranks`,
		"65 by name: 65 refused, wrong: false, ", `algorithm "fewer" is proved for up to 64 ranks, not for 65 ranks; `,
		"65 unproved: 0 refused, wrong: true, <nil>\n",
		"depth 4: 0 refused, wrong: false, <nil>\n",
		"depth 9: 9 refused, wrong: false, ",
		`algorithm "shallow" is proved for up to 9 ranks and depth 4, not for depth 9; `,
		"depth 9 unproved: 0 refused, wrong: true, <nil>\n",
		"fewer has no depth: 0 refused, wrong: false, <nil>\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	for args, want := range map[string]string{
		"list":                         "1..9, depths 1..4",
		"explain allgather -n 65":      "None serves this size and was proved for it: such calls are refused.",
		"explain allgather -n 64":      "rule 1: all calls: fewer",
		"explain allgather/fewer -n 3": "Not proved by induction: without the option Unproved, ",
		"explain allgather -n 65 -bytes 8 -transport tcp": "gets nothing: it is refused.\n  not rule 1: all calls: fewer: " +
			"its algorithm was not proved for 65 ranks\n",
	} {
		if status, stdout, stderr := collgen(t, append(strings.Fields(args), "-package", dir)...); status != 0 ||
			!strings.Contains(stdout, want) {
			t.Errorf("collgen %s: status %d, want %q in\n%s%s", args, status, want, stdout, stderr)
		}
	}
	if status, _, stderr := collgen(t, "gen", "-n", "1..65", dir); status != statusFailed ||
		!strings.Contains(stderr, "allgather/fewer fails") ||
		!strings.Contains(stderr, "size 65") {
		t.Errorf("gen -n 1..65: status %d\n%s", status, stderr)
	}
}

// TestBoundsOfGen: gen -n proves as far as it says, which check has to be told too; and what fails within is refused.
func TestBoundsOfGen(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a.go": small("theirs", shift)})
	if status, _, stderr := collgen(t, "gen", "-n", "1..70", dir); status != 0 ||
		!strings.Contains(stderr, "same/copy: proved up to 70 ranks; ") ||
		strings.Count(stderr, "Same: the specification has no Examples, ") != 1 {
		t.Errorf("gen -n 1..70: status %d\n%s", status, stderr)
	}
	if text := read(t, dir+"/zsame.go"); !strings.Contains(text, "collective.Proved{Sizes: 70}") ||
		!strings.Contains(text, "gen -n 1..70\n") {
		t.Errorf("generated:\n%s", text)
	}
	if status, _, stderr := collgen(t, "check", "-n", "1..70", dir); status != 0 {
		t.Errorf("check -n 1..70: status %d\n%s", status, stderr)
	}
	if status, _, _ := collgen(t, "check", dir); status != statusFailed {
		t.Errorf("check: status %d", status)
	}
	if status, _, stderr := collgen(t, "gen", "-n", "2..70", dir); status != statusUsage ||
		!strings.Contains(stderr, "from 1 on") {
		t.Errorf("gen -n 2..70: status %d\n%s", status, stderr)
	}
	for _, depth := range []string{"4", "8"} {
		dir := module(t, map[string]string{"a.go": small("theirs", strings.Replace(bounded, "DEPTH", depth, 1))})
		status, _, stderr := collgen(t, "gen", dir)
		if status != statusFailed || !strings.Contains(stderr, "allgather/shallow fails") ||
			!strings.Contains(stderr, "depth "+depth) {
			t.Errorf("wrong at depth %s: status %d\n%s", depth, status, stderr)
		}
	}
}
