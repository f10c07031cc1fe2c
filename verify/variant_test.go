package verify_test

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/colltest"
)

// variant is a call without its data.
type variant struct {
	a       *gen.Algorithm
	p       gen.Params
	byTable bool // the call leaves algorithm and depth to the selection table, which says the same
	ty      spec.Type
	op      spec.Op
	count   int
	lengths map[spec.Length]int // of uneven blocks, in place of count
	inPlace bool
}

func (v *variant) String() string {
	count := fmt.Sprint(v.count)
	if v.lengths != nil {
		count = fmt.Sprint(v.lengths)
	}
	return fmt.Sprintf("%s of %d ranks, blocks of %s %v, op %v, root %d, peer %d, depth %d, in place %v",
		v.a.FullName(), v.p.Size, count, v.ty, v.op, v.p.Root, v.p.Peer, v.p.Depth, v.inPlace)
}

// drawVariant draws any call on size ranks, of which tables see so much.
func drawVariant(t *rapid.T, size int, of selection.Call) variant {
	v := variant{a: rapid.SampledFrom(algorithmsFor(of)).Draw(t, "algorithm"), ty: spectest.Types().Draw(t, "type"),
		count: drawCount(t, size)}
	v.drawLengths(t, size)
	v.op = spectest.Ops(v.ty).Draw(t, "op")
	depth := depths(v.count)
	if v.byTable = rapid.Bool().Draw(t, "by table"); v.byTable {
		depth = v.selected(of)
	}
	v.p = rapid.SampledFrom(callsOver(of, v.a, depth...)).Draw(t, "params")
	v.inPlace = hasInPlace(v.a) && rapid.Bool().Draw(t, "in place")
	return v
}

// drawLengths draws how long uneven blocks are: none of them, some, or one so long that transports cut it. count is
// then what tables see of them.
func (v *variant) drawLengths(t *rapid.T, size int) {
	p := v.a.Primitive
	if !p.IsUneven() {
		return
	}
	v.lengths = map[spec.Length]int{}
	ofPairs := size
	if p.Arity() == 1 {
		ofPairs = 1
	}
	total := 0
	for i := range size {
		for j := range ofPairs {
			n := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40), rapid.IntRange(0, 3)).Draw(t, "length")
			v.lengths[spec.Length{i, j}] = n
			total += n
		}
	}
	if long := rapid.IntRange(0, 3*size).Draw(t, "long"); long < size {
		at := spec.Length{long, (long + 1) % ofPairs}
		total += v.count - v.lengths[at]
		v.lengths[at] = v.count
	}
	if v.count = 0; p.SameCounts() {
		v.count = (total + size - 1) / size
	}
}

// counts returns how long the blocks of each rank's input are, if they are uneven.
func (v *variant) counts(t *rapid.T) [][]int {
	if v.lengths == nil {
		return nil
	}
	e, err := spec.Expect(v.a.Primitive, spec.Call{Size: v.p.Size, Root: v.p.Root})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([][]int, v.p.Size)
	for rank := range counts {
		counts[rank] = []int{}
		for _, l := range e.Ranks[rank].InLengths {
			counts[rank] = append(counts[rank], v.lengths[l])
		}
	}
	return counts
}

// serving are results of algorithmsFor, by what tables see. Nothing changes them.
var serving sync.Map

// algorithmsFor returns the algorithms of the catalogue that serve ranks of which tables see so much.
func algorithmsFor(of selection.Call) []*gen.Algorithm {
	if known, ok := serving.Load(of); ok {
		return known.([]*gen.Algorithm)
	}
	var all []*gen.Algorithm
	for _, a := range catalogue.Algorithms() {
		if len(callsOver(of, &a, 1)) > 0 {
			all = append(all, &a)
		}
	}
	serving.Store(of, all)
	return all
}

// callsOver returns the calls of a by such ranks: those with as many ranks on each host.
func callsOver(of selection.Call, a *gen.Algorithm, depths ...int) []gen.Params {
	others := func(p gen.Params) bool { return p.Local != 0 && p.Local != of.Local }
	return slices.DeleteFunc(a.Calls(of.Size, depths...), others)
}

// drawCount draws the elements of a block: few, or so many that transports cut them.
func drawCount(t *rapid.T, size int) int {
	many := rapid.SampledFrom([]int{1021, 4099, 70001 / size})
	return rapid.OneOf(spectest.Counts(size), rapid.IntRange(0, 40), many).Draw(t, "count")
}

// depths returns those that a call of count elements can have.
func depths(count int) []int {
	return slices.DeleteFunc([]int{1, 2, 3, 7}, func(d int) bool { return d > max(1, count) })
}

// selected sets the algorithm to what the selection table of its primitive says, and returns the depth.
func (v *variant) selected(of selection.Call) []int {
	isOther := func(a gen.Algorithm) bool { return a.Primitive.Name != v.a.Primitive.Name }
	algorithms := slices.DeleteFunc(catalogue.Algorithms(), isOther)
	table, bytes := catalogue.Rules(v.a.Primitive, algorithms), v.count*v.ty.Bytes()
	of.Commutative = v.op.Commutative()
	rule := table[gen.Select(table, algorithms, of, bytes)]
	v.a = &algorithms[slices.IndexFunc(algorithms, func(a gen.Algorithm) bool { return a.Name == rule.Algorithm })]
	return []int{rule.Depth(v.count, bytes)}
}

func hasInPlace(a *gen.Algorithm) bool { return !a.Primitive.InPlace.InBlock.IsAbsent() }

// step draws the data of v.
func (v *variant) step(t *rapid.T) colltest.Step {
	s := colltest.Step{Primitive: v.a.Primitive.Name, Type: v.ty, Root: v.p.Root, Peer: v.p.Peer, Count: v.count,
		Counts:  v.counts(t),
		InPlace: v.inPlace}
	if slices.Contains(v.a.Primitive.Params, spec.ParamOp) {
		s.Op = v.op
	}
	s.Lead = rapid.IntRange(0, 17).Draw(t, "lead")
	s.Values.Kind = rapid.SampledFrom([]spectest.Kind{spectest.Ordinary, spectest.Special, spectest.AnyBits,
		spectest.Mixed}).Draw(t, "kind")
	s.Values.Seed = rapid.Uint64().Draw(t, "seed")
	return s
}

// withLengths draws how long blocks are, if they are uneven, and the rest. A call by the table keeps what it sees:
// there blocks are equally long.
func (v variant) withLengths(t *rapid.T) expected {
	if !v.byTable {
		v.drawLengths(t, v.p.Size)
	}
	return v.draw(t)
}

// draw draws the data of v, and when each rank comes.
func (v variant) draw(t *rapid.T) expected {
	e := elements[v.ty].expect(t, v)
	for r := range e.calls {
		if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
			e.calls[r].Delay = time.Duration(rapid.IntRange(0, 300).Draw(t, "µs")) * time.Microsecond
		}
	}
	return e
}
