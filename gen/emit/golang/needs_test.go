package golang

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestNeeds: what is known of the primitives, and that a rank which gets nothing of another one is said to need nothing
// of it. Calls that are refused say nothing.
func TestNeeds(t *testing.T) {
	halo := spec.Broadcast
	halo.Post = []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: spec.Root, Block: spec.Int(0)},
		Where: spec.Lt(spec.Rank, spec.Int(40))}}
	refusing := func(when spec.Expr) spec.Primitive {
		p := spec.AllReduce
		p.Errors = append(slices.Clone(p.Errors), spec.ArgError{When: when, Reason: "it is refused"})
		return p
	}
	even, none := refusing(spec.Eq(spec.BitAnd(spec.Size, spec.Int(1)), spec.Int(1))),
		refusing(spec.Ge(spec.Size, spec.Int(0)))
	wrong := spec.AllReduce
	wrong.Out.Blocks = spec.Var("nothing")
	above := spec.Broadcast // rank 0 is needed by all as a root, the others are not
	above.Post = []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: spec.Root, Block: spec.Int(0)},
		Where: spec.Ge(spec.Rank, spec.Root)}}
	for _, x := range []struct {
		spec.Primitive
		want string
	}{
		{spec.AllReduce, "AllNeedAll"}, {spec.AllGather, "AllNeedAll"}, {spec.AllToAll, "AllNeedAll"},
		{spec.Barrier, "AllNeedAll"},
		{spec.ReduceScatter, "AllNeedAll"}, {spec.Broadcast, "AllNeedRoot"}, {spec.Scatter, "AllNeedRoot"},
		{spec.Reduce, "RootNeedsAll"},
		{spec.Gather, "RootNeedsAll"}, {spec.Scan, "AllNeedLower"}, {spec.Exscan, "AllNeedLower"}, {spec.Send, ""},
		{halo, ""}, {wrong, ""}, {even, "AllNeedAll"},
		{none, ""}, {above, ""},
	} {
		if got := needsOf(x.Primitive); got != x.want {
			t.Errorf("%s: %q, want %q", x.Name, got, x.want)
		}
	}
}
