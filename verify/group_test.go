package verify_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// levels is what collectives on two levels are made of: hosts of n = 2^shift ranks, among which the ranks of one host
// make groups, and those with one place on all hosts.
type levels struct {
	n, shift    spec.Expr
	host, place spec.Expr // of this rank, by name
	root        spec.Expr // place of the root
	within      gen.Group // without names, which parts have
	across      gen.Group
}

func newLevels(shift int) *levels {
	l := &levels{n: spec.Int(1 << shift), shift: spec.Int(shift),
		host: spec.Var("host"), place: spec.Var("place"), root: spec.Var("home")}
	l.within = gen.Group{First: spec.Shl(l.host, l.shift), Stride: spec.Int(1), N: l.n, Member: l.place, Root: l.root}
	l.across = gen.Group{First: l.place, Stride: l.n, N: spec.Shr(spec.Size, l.shift), Member: l.host,
		Root: spec.Shr(spec.Root, l.shift)}
	return l
}

// placeOf returns the place of a rank on its host.
func (l *levels) placeOf(rank spec.Expr) spec.Expr {
	return spec.BitAnd(rank, spec.Sub(l.n, spec.Int(1)))
}

// algorithm returns one for sizes that are multiples of n.
func (l *levels) algorithm(p spec.Primitive, parts ...[]gen.Node) *gen.Algorithm {
	whole := spec.Eq(l.placeOf(spec.Size), spec.Int(0))
	body := []gen.Node{
		gen.Let{Name: "host", Is: spec.Shr(spec.Rank, l.shift)},
		gen.Let{Name: "place", Is: l.placeOf(spec.Rank)},
	}
	if slices.Contains(p.Params, spec.ParamRoot) {
		body = append(body, gen.Let{Name: "home", Is: l.placeOf(spec.Root)})
	}
	return &gen.Algorithm{Name: "two-level", Primitive: p, Doc: "A doc.", Source: "New.",
		Requires: gen.Requires{Size: whole}, Body: append(body, slices.Concat(parts...)...)}
}

// at returns the ranks with one place, which alone carry out a part.
func (l *levels) at(place spec.Expr, part []gen.Node) []gen.Node {
	return []gen.Node{gen.If{Cond: spec.Eq(l.place, place), Then: part}}
}

func named(name string, g gen.Group) gen.Group {
	g.Name = name
	return g
}

type parts = map[spec.Buf]gen.Part

// allReduce scatters the sums of a host among its ranks, adds them up among hosts, and gathers them.
func (l *levels) allReduce() *gen.Algorithm {
	mine := gen.Part{Buf: spec.Out, At: l.place}
	scatter := named("scatter", l.within)
	a := l.algorithm(spec.AllReduce,
		scatter.Run(&catalogue.ReduceScatterDirect,
			parts{spec.In: {Buf: spec.In}, spec.Out: mine, spec.Scratch: {Buf: spec.Scratch, Like: l.place}}, true),
		named("across", l.across).Run(&catalogue.AllReduceRecursiveDoubling, parts{spec.In: mine, spec.Out: mine}, false),
		named("gather", l.within).Run(&catalogue.AllGatherDirect, parts{spec.In: mine, spec.Out: {Buf: spec.Out}}, false))
	a.Chunks, a.Scratch = l.n, scatter.Slots(&catalogue.ReduceScatterDirect)
	return a
}

// reduce goes to the ranks with the root's place first, which hold the sums of their hosts in the first slot.
func (l *levels) reduce() *gen.Algorithm {
	sum := gen.Part{Buf: spec.Scratch}
	rest := gen.Part{Buf: spec.Scratch, At: spec.Int(1)}
	onHost, across := named("within", l.within), named("across", l.across)
	tree := &catalogue.ReduceBinomial
	a := l.algorithm(spec.Reduce,
		onHost.Run(tree, parts{spec.In: {Buf: spec.In}, spec.Out: sum, spec.Scratch: rest}, true),
		l.at(l.root, across.Run(tree, parts{spec.In: sum, spec.Out: {Buf: spec.Out}, spec.Scratch: rest}, false)))
	a.Scratch = spec.Add(spec.Int(1), spec.Max(onHost.Slots(tree), across.Slots(tree)))
	return a
}

// broadcast goes to the ranks with the root's place first.
func (l *levels) broadcast() *gen.Algorithm {
	buffers := parts{spec.In: {Buf: spec.In}, spec.Out: {Buf: spec.Out}}
	onHost := named("within", l.within)
	return l.algorithm(spec.Broadcast,
		l.at(l.root, named("across", l.across).Run(&catalogue.BroadcastBinomial, buffers, false)),
		onHost.Run(&catalogue.BroadcastBinomial, parts{spec.In: {Buf: spec.Out}, spec.Out: {Buf: spec.Out}}, false))
}

// allGather has the first rank of each host get the blocks of all hosts.
func (l *levels) allGather() *gen.Algorithm {
	blocks := gen.Part{Buf: spec.Out, At: spec.Shl(l.host, l.shift)}
	all := gen.Part{Buf: spec.Out, N: spec.Size}
	first := l.within
	first.Root = spec.Int(0)
	return l.algorithm(spec.AllGather,
		named("within", l.within).Run(&catalogue.AllGatherDirect, parts{spec.In: {Buf: spec.In}, spec.Out: blocks}, false),
		l.at(spec.Int(0), named("across", l.across).Run(&catalogue.AllGatherRing,
			parts{spec.In: {Buf: spec.Out, At: blocks.At, N: l.n}, spec.Out: {Buf: spec.Out, N: l.n}}, false)),
		named("spread", first).Run(&catalogue.BroadcastBinomial, parts{spec.In: all, spec.Out: all}, false))
}

// barrier has the ranks of a host meet, then one of each host, and those of a host again.
func (l *levels) barrier() *gen.Algorithm {
	return l.algorithm(spec.Barrier,
		named("enter", l.within).Run(&catalogue.BarrierDirect, nil, false),
		l.at(spec.Int(0), named("across", l.across).Run(&catalogue.BarrierDissemination, nil, false)),
		named("leave", l.within).Run(&catalogue.BarrierDirect, nil, false))
}

// TestGroups proves collectives on two levels, each made of algorithms of the catalogue that groups carry out.
func TestGroups(t *testing.T) {
	for name, make := range map[string]func(*levels) *gen.Algorithm{
		"AllReduce": (*levels).allReduce, "Reduce": (*levels).reduce, "Broadcast": (*levels).broadcast,
		"AllGather": (*levels).allGather, "Barrier": (*levels).barrier,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for shift := range 4 {
				a := make(newLevels(shift))
				if err := gen.Validate(a); err != nil {
					t.Fatal(err)
				}
				s, err := verify.Algorithm(t.Context(), a, verify.Options{To: 48})
				if err != nil {
					t.Fatalf("hosts of %d ranks: %v", 1<<shift, err)
				}
				if len(s.Sizes) != 48>>shift {
					t.Errorf("hosts of %d ranks: proved for %v", 1<<shift, s.Sizes)
				}
			}
		})
	}
}

// TestWrongGroups makes mistakes in how groups and parts are put together.
func TestWrongGroups(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(l *levels) *gen.Algorithm
		want  verify.Check
	}{
		"groups of another stride": {func(l *levels) *gen.Algorithm {
			l.across.Stride = spec.Int(1)
			return l.allReduce()
		}, "unmatched"},
		"a group too large": {func(l *levels) *gen.Algorithm {
			l.within.N = spec.Add(l.n, spec.Int(1))
			return l.barrier()
		}, "program"},
		"members in another order": {func(l *levels) *gen.Algorithm {
			l.across.Member = spec.Sub(spec.Sub(l.across.N, spec.Int(1)), l.host)
			l.across.First = spec.Add(l.place, spec.Shl(spec.Sub(l.across.N, spec.Int(1)), l.shift))
			l.across.Stride = spec.Sub(spec.Int(0), l.n)
			return l.allReduce()
		}, "order"},
		"another root": {func(l *levels) *gen.Algorithm {
			l.root = spec.Int(0)
			l.within.Root = spec.Int(1)
			return l.broadcast()
		}, "uninitialized"},
		"part of another rank": {func(l *levels) *gen.Algorithm {
			l.place = spec.Sub(spec.Int(3), l.place)
			return l.allReduce()
		}, "program"},
		"finished twice": {func(l *levels) *gen.Algorithm {
			a := l.reduce()
			again := gen.Step{gen.Finish{Data: gen.Chunk(spec.Out, spec.Int(0))}}
			a.Body = append(a.Body, gen.If{Cond: spec.Eq(spec.Rank, spec.Root), Then: []gen.Node{again}})
			return a
		}, "finish"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verify.Algorithm(t.Context(), c.wrong(newLevels(2)), verify.Options{To: 16})
			var f *verify.Failure
			if !errors.As(err, &f) || f.Check != c.want {
				t.Errorf("%v, want a failure of the check %s", err, c.want)
			}
		})
	}
}

// TestMissingPart: a buffer without a part is named, also where an algorithm names it in turn.
func TestMissingPart(t *testing.T) {
	l := newLevels(1)
	for missing, has := range map[spec.Buf]parts{
		spec.In: {spec.Out: {Buf: spec.Out}}, spec.Out: {spec.In: {Buf: spec.In}},
	} {
		body := named("meet", l.within).Run(&catalogue.AllReduceRecursiveDoubling, has, false)
		err := gen.Validate(l.algorithm(spec.AllReduce, body))
		if want := string(missing) + ", of which group meet has no part"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestPartsOfOneName has two parts define the same names.
func TestPartsOfOneName(t *testing.T) {
	l := newLevels(1)
	meet := named("meet", l.within).Run(&catalogue.BarrierDissemination, nil, false)
	err := gen.Validate(l.algorithm(spec.Barrier, meet, meet))
	if err == nil || !strings.Contains(err.Error(), "already defined") {
		t.Error(err)
	}
}
