package spec_test

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

var (
	prev = spec.Down(spec.Sub(spec.Rank, spec.Int(1)), spec.Size)
	next = spec.Up(spec.Add(spec.Rank, spec.Int(1)), spec.Size)
)

// exchange is a primitive of the kind that users write: each rank gets both neighbours' blocks, and nothing is
// promised of what becomes of its own.
var exchange = spec.Primitive{
	Name: "NeighborExchange",
	Doc:  "NeighborExchange gives each rank the blocks of both of its neighbours on a ring.",
	In:   spec.Buffer{Blocks: spec.Int(1)},
	Out:  spec.Buffer{Blocks: spec.Int(3)},
	Pre:  []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},
	Post: []spec.Clause{
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(0)), Value: neighbour(prev)},
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(2)), Value: neighbour(next)},
		{Buf: spec.In},
	},
}

func neighbour(rank spec.Expr) spec.Value {
	return spec.Value{Kind: spec.Input, Rank: rank, Block: spec.Int(0)}
}

// scan is a prefix reduction: its folds differ in length.
var scan = spec.Primitive{
	Name:   "Scan",
	Doc:    "Scan gives rank r the reduction of the blocks of the ranks up to r.",
	Params: []spec.Param{spec.ParamOp},
	In:     spec.Buffer{Blocks: spec.Int(1)},
	Out:    spec.Buffer{Blocks: spec.Int(1)},
	Pre:    exchange.Pre,
	Post: []spec.Clause{{Buf: spec.Out,
		Value: spec.Value{Kind: spec.Fold, Block: spec.Int(0), Where: spec.Le(spec.Q, spec.Rank)}}},
	InPlace: spec.InPlace{InBlock: spec.Int(0), OutBlock: spec.Int(0)},
}

func input(rank, block int) spec.Content {
	return spec.Content{Kind: spec.Input, Terms: []spec.Term{{Rank: rank, Block: block}}}
}

func TestExpect(t *testing.T) {
	unchanged, undefined := spec.Content{Kind: spec.Unchanged}, spec.Content{}
	for _, c := range []struct {
		p    spec.Primitive
		call spec.Call
		rank int
		want spec.RankExpectation
	}{
		{exchange, spec.Call{Size: 3}, 0, spec.RankExpectation{
			Given: []spec.Content{input(0, 0)}, In: []spec.Content{undefined},
			Out: []spec.Content{input(2, 0), unchanged, input(1, 0)}, InBlock: -1, OutBlock: -1,
		}},
		{scan, spec.Call{Size: 3}, 1, spec.RankExpectation{
			Given: []spec.Content{input(1, 0)}, In: []spec.Content{unchanged},
			Out: []spec.Content{{Kind: spec.Fold, Terms: []spec.Term{{Rank: 0}, {Rank: 1}}}},
		}},
		{spec.Gather, spec.Call{Size: 2, Root: 1}, 0, spec.RankExpectation{
			Given: []spec.Content{input(0, 0)}, In: []spec.Content{unchanged}, Out: []spec.Content{},
			InBlock: -1, OutBlock: -1,
		}},
		{spec.ReduceScatter, spec.Call{Size: 2}, 1, spec.RankExpectation{
			Given: []spec.Content{input(1, 0), input(1, 1)}, In: []spec.Content{unchanged, unchanged},
			Out:     []spec.Content{{Kind: spec.Fold, Terms: []spec.Term{{Rank: 0, Block: 1}, {Rank: 1, Block: 1}}}},
			InBlock: 1, OutBlock: 0,
		}},
	} {
		e, err := spec.Expect(c.p, c.call)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, e.Ranks[c.rank]); diff != "" {
			t.Errorf("%s, rank %d (-want +got):\n%s", c.p.Name, c.rank, diff)
		}
	}
}

// TestAliased: in place, the blocks of the two buffers go side by side from the shared one on.
func TestAliased(t *testing.T) {
	e, err := spec.Expect(spec.ReduceScatter, spec.Call{Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		out, ok := e.Ranks[2].Aliased(i)
		if ok != (i == 2) || ok && out != 0 {
			t.Errorf("block %d of in is block %d of out: %v", i, out, ok)
		}
	}
	if e, err = spec.Expect(spec.AllToAll, spec.Call{Size: 3}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if out, ok := e.Ranks[1].Aliased(i); out != i || !ok {
			t.Errorf("block %d of in is block %d of out: %v", i, out, ok)
		}
	}
	if _, ok := (&spec.RankExpectation{InBlock: -1, OutBlock: -1, Out: make([]spec.Content, 1)}).Aliased(0); ok {
		t.Error("a rank that cannot be in place shares a block")
	}
}

// replicated says that all ranks start with the same block, which has one name.
var replicated = change(scan, func(p *spec.Primitive) {
	p.Pre = []spec.Clause{{Buf: spec.In, Value: neighbour(spec.Int(0))}}
})

func TestReplicatedInput(t *testing.T) {
	e, err := spec.Expect(replicated, spec.Call{Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := spec.Content{Kind: spec.Fold, Terms: []spec.Term{{}, {}, {}}}
	if diff := cmp.Diff(want, e.Ranks[2].Out[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExpectErrors(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(*spec.Primitive)
	}{
		{"a communicator of 0 ranks", func(p *spec.Primitive) { p.Name = "None" }},
		{"two clauses speak of block 0 of out", func(p *spec.Primitive) { p.Post = append(p.Post, p.Post[0]) }},
		{"a reduction of no operands", func(p *spec.Primitive) { p.Post[0].Value.Where = spec.Lt(spec.Q, spec.Rank) }},
		{"rank 0 has no block 1", func(p *spec.Primitive) { p.Post[0].Value.Block = spec.Int(1) }},
		{"rank 3 has no block 0", func(p *spec.Primitive) { p.Pre[0].Value.Rank = spec.Size }},
		{"is not an input by any precondition", func(p *spec.Primitive) { p.Pre = nil }},
		{"which is given as something else", func(p *spec.Primitive) { p.Pre[0].Value.Rank = next }},
		{"a precondition speaks of \"out\"", func(p *spec.Primitive) { p.Pre[0].Buf = spec.Out }},
		{"a postcondition speaks of \"scratch\"", func(p *spec.Primitive) { p.Post[0].Buf = spec.Scratch }},
		{"a clause cannot say unchanged", func(p *spec.Primitive) { p.Post[0].Value.Kind = spec.Unchanged }},
		{"in place, block 1 of 1 in is block 0 of 1 out", func(p *spec.Primitive) { p.InPlace.InBlock = spec.Int(1) }},
		{"0 and -1 blocks", func(p *spec.Primitive) { p.In.Blocks, p.Out.Blocks = spec.Int(0), spec.Int(-1) }},
		{"in: is not defined", func(p *spec.Primitive) { p.In.Blocks = spec.Var("in: is not defined") }},
		{"out: is not defined", func(p *spec.Primitive) { p.Out.Blocks = spec.Var("out: is not defined") }},
		{"where: is not defined", func(p *spec.Primitive) { p.Post[0].Value.Block = spec.Var("where: is not defined") }},
		{"peer: is not defined", func(p *spec.Primitive) { p.Post[0].Where = spec.Var("peer: is not defined") }},
	} {
		p, size := change(scan, c.f), 3
		if p.Name == "None" {
			size = 0
		}
		if _, err := spec.Expect(p, spec.Call{Size: size}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// change returns a copy of p after f.
func change(p spec.Primitive, f func(*spec.Primitive)) spec.Primitive {
	p.Params = append([]spec.Param(nil), p.Params...)
	p.Pre = append([]spec.Clause(nil), p.Pre...)
	p.Post = append([]spec.Clause(nil), p.Post...)
	p.Errors = append([]spec.ArgError(nil), p.Errors...)
	f(&p)
	return p
}

// BenchmarkExpect is one of the largest calls that verify asks for.
func BenchmarkExpect(b *testing.B) {
	for b.Loop() {
		if _, err := spec.Expect(spec.ReduceScatter, spec.Call{Size: 64}); err != nil {
			b.Fatal(err)
		}
	}
}
