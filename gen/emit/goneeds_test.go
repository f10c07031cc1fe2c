package emit

import (
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestNeeds: what is known of the primitives, and that a rank which gets nothing of another one is said to need nothing of it.
func TestNeeds(t *testing.T) {
	halo := spec.Broadcast
	halo.Post = []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: spec.Root, Block: spec.Int(0)},
		Where: spec.Lt(spec.Rank, spec.Int(40))}}
	wrong := spec.AllReduce
	wrong.Out.Blocks = spec.Var("nothing")
	for _, x := range []struct {
		spec.Primitive
		want string
	}{
		{spec.AllReduce, "AllNeedAll"}, {spec.AllGather, "AllNeedAll"}, {spec.AllToAll, "AllNeedAll"}, {spec.Barrier, "AllNeedAll"},
		{spec.ReduceScatter, "AllNeedAll"}, {spec.Broadcast, "AllNeedRoot"}, {spec.Scatter, "AllNeedRoot"}, {spec.Reduce, "RootNeedsAll"},
		{spec.Gather, "RootNeedsAll"}, {spec.Send, ""}, {halo, ""}, {wrong, ""},
	} {
		if got := needsOf(x.Primitive); got != x.want {
			t.Errorf("%s: %q, want %q", x.Name, got, x.want)
		}
	}
}
