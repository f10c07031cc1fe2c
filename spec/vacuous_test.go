package spec_test

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestVacuous has a planted promise of every kind that says nothing, next to one that says something and differs
// little.
func TestVacuous(t *testing.T) {
	never, undefined := spec.Int(0), spec.Value{}
	own := spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Int(0)}
	where := func(e spec.Expr) func(*spec.Primitive) {
		return func(p *spec.Primitive) { p.Post[0].Where = e }
	}
	refuse := func(e spec.Expr) func(*spec.Primitive) {
		return func(p *spec.Primitive) { p.Errors = []spec.ArgError{{When: e, Reason: "the size does not fit"}} }
	}
	out := func(value spec.Value) func(*spec.Primitive) {
		return func(p *spec.Primitive) { p.Params, p.Post = nil, []spec.Clause{{Buf: spec.Out, Value: value}} }
	}
	// many is 0 up to 5 ranks, and has no value with more: a shift by a negative number has none.
	many := spec.Shr(spec.Int(0), spec.Sub(spec.Int(5), spec.Size))
	for _, c := range []struct {
		name string
		from spec.Primitive
		f    func(*spec.Primitive)
		want string // "": nothing is wrong
	}{
		{"a postcondition of no block", exchange, where(never),
			"Post[0] says nothing: where 0, it is about no block of out in any call of 1 to 16, 32 or 64 ranks"},
		{"of a block that there is not", exchange, where(spec.Eq(spec.Block, spec.Int(3))),
			"Post[0] says nothing: where block == 3, "},
		{"of many ranks", exchange, where(spec.And(spec.Eq(spec.Block, spec.Int(0)), spec.Lt(spec.Int(40), spec.Size))), ""},
		{"of more ranks than are taken", change(exchange, refuse(spec.Lt(spec.Int(40), spec.Size))),
			where(spec.And(spec.Eq(spec.Block, spec.Int(0)), spec.Lt(spec.Int(40), spec.Size))), "Post[0] says nothing"},
		{"of roots that there are not", spec.Scatter, where(spec.Eq(spec.Root, spec.Size)), "Post[0] says nothing"},
		{"of a buffer that nobody passes", spec.Reduce, func(p *spec.Primitive) { p.Out.On = never },
			"Post[0] says nothing: it is about no block of out in any call"},
		{"of no ranks that have entered", spec.Barrier, func(p *spec.Primitive) {
			p.Post[0].Value.Where = spec.Lt(spec.Q,
				spec.Int(0))
		},
			"Post[0] says nothing: it is about no ranks in any call"},
		{"a precondition of no block", exchange, func(p *spec.Primitive) {
			p.Pre = append(p.Pre, spec.Clause{Buf: spec.In, Where: never, Value: own})
		}, "Pre[1] says nothing: where 0, it is about no block of in in any call"},

		{"another rank's input", replicated, func(*spec.Primitive) {},
			"Pre[0] says that, of 2 ranks, block 0 of rank 1 is block 0 of rank 0: no rank can check that in a call"},
		{"another block of the own input", spec.AllToAll, func(p *spec.Primitive) { p.Pre[0].Value.Block = spec.Int(0) },
			"Pre[0] says that, of 2 ranks, block 1 of rank 0 is block 0 of rank 0: no rank can check that in a call"},
		{"the own input in other words", spec.AllToAll, func(p *spec.Primitive) {
			p.Pre[0].Value.Block = spec.Add(spec.Block,
				spec.Int(0))
		}, ""},

		{"nothing of out", scan, out(undefined), "Post promises nothing about out: with 3 ranks, all of it is undefined " +
			"on every rank"},
		{"nothing of out, something of in", exchange, func(p *spec.Primitive) {
			p.Post = []spec.Clause{{Buf: spec.In, Value: neighbour(next)}, {Buf: spec.Out}}
		}, "Post promises nothing about out"},
		{"nothing of out but with two ranks", exchange, func(p *spec.Primitive) {
			few := spec.Le(spec.Size, spec.Int(2))
			p.Post = []spec.Clause{{Buf: spec.Out, Where: few, Value: neighbour(next)}, {Buf: spec.Out, Where: spec.Not(few)}}
		}, "Post promises nothing about out"},
		{"nothing of some ranks' out", exchange, func(p *spec.Primitive) {
			first := spec.Eq(spec.Rank, spec.Int(0))
			p.Post = []spec.Clause{{Buf: spec.Out, Where: first, Value: neighbour(next)},
				{Buf: spec.Out, Where: spec.Not(first)}}
		}, ""},
		{"nothing of in", exchange, func(*spec.Primitive) {}, ""},

		{"the own input", exchange, out(own), "Post needs no message: with 3 ranks, every block is one of its own rank"},
		{"one number of ranks", exchange, func(p *spec.Primitive) {
			for i := range p.Post {
				p.Post[i].Where = spec.And(p.Post[i].Where.OrElse(spec.Int(1)), spec.Eq(spec.Size, spec.Int(3)))
			}
		}, "Post needs no message: with 4 ranks, every block is one of its own rank"},
		{"a reduction of the own input", scan, func(p *spec.Primitive) { p.Post[0].Value.Where = spec.Eq(spec.Q, spec.Rank) },
			"Post needs no message"},
		{"that the rank itself has come", spec.Barrier, func(p *spec.Primitive) {
			p.Post[0].Value.Where = spec.Eq(spec.Q,
				spec.Rank)
		}, "Post needs no message"},
		{"a message of two ranks", exchange, out(spec.Value{Kind: spec.Input, Block: spec.Int(0),
			Rank: spec.If(spec.Eq(spec.Size, spec.Int(2)), next, spec.Rank)}), "Post needs no message"},

		// What has no value has none with more than 5 ranks: calls of fewer were worked out before.
		{"a place that has no value", exchange, where(spec.Eq(many, spec.Int(20))), "Post[0]: 0 >> (5 - size)"},
		{"a precondition's place that has no value", exchange, func(p *spec.Primitive) { p.Pre[0].Where = spec.Not(many) },
			"Pre[0]: "},
		{"a precondition's value that has none", exchange, func(p *spec.Primitive) {
			p.Pre[0].Value.Rank = spec.Add(spec.Rank,
				many)
		}, "Pre[0]: "},
		{"a refusal that has no value", exchange, refuse(many), "Pre[0]: "},
		{"a refusal of few ranks, and one that has no value", spec.Barrier,
			refuse(spec.If(spec.Le(spec.Size, spec.Int(5)), spec.Lt(spec.Int(2), spec.Size), many)), "shift by -1"},

		{"two ranks at most", exchange, refuse(spec.Lt(spec.Int(2), spec.Size)),
			"every call of more than 2 ranks is refused, of those of 1 to 16, 32 or 64 ranks"},
		{"three ranks at most", exchange, refuse(spec.Lt(spec.Int(3), spec.Size)), ""},
		{"a multiple of 32 ranks", exchange, refuse(spec.Ne(spec.BitAnd(spec.Size, spec.Int(31)), spec.Int(0))), ""},
	} {
		err := spec.Validate(change(c.from, c.f))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
