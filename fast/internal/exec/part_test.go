package exec

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// TestPart: calls that are parts of different operations differ in what ranks compare, and say in words how; those of
// none are described as ever.
func TestPart(t *testing.T) {
	var plain, same wire.Call
	new(Part).describe(&same)
	if same != plain {
		t.Errorf("a call of its own is %+v", same)
	}
	seen := map[uint64]string{plain.Primitive: "none"}
	for want, p := range map[string]Part{
		"hosts.Barrier":            {"hosts.Barrier", 0, -1, 0, 0},
		"hosts.Broadcast root 0":   {"hosts.Broadcast", 0, 0, 0, 0},
		"hosts.Broadcast root 1":   {"hosts.Broadcast", 0, 1, 0, 0},
		"hosts.Reduce sum root 1":  {"hosts.Reduce", spec.OpSum, 1, 0, 0},
		"hosts.Reduce avg root 1":  {"hosts.Reduce", spec.OpAvg, 1, 0, 0},
		"neighbor.AllToAll #3":     {"neighbor.AllToAll", 0, -1, 3, 0},
		"neighbor.AllToAll #3+1":   {"neighbor.AllToAll", 0, -1, 3, 1},
		"neighbor.AllToAll #4+1":   {"neighbor.AllToAll", 0, -1, 4, 1},
		"hosts.ReduceScatter prod": {"hosts.ReduceScatter", spec.OpProd, -1, 0, 0},
	} {
		d := plain
		p.describe(&d)
		if got := d.PrimitiveName.String(); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
		if other, known := seen[d.Primitive]; known {
			t.Errorf("%s is the same as %s", want, other)
		}
		seen[d.Primitive] = want
	}
	if got := partOf([]Option{{Kind: DepthOption},
		{Kind: PartOption, Part: &Part{Operation: "x"}}}); got.Operation != "x" {
		t.Errorf("the options name %+v", got)
	}
}
