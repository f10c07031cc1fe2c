package exec

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestDescribesLocal: ranks compare how many of them are on each host.
func TestDescribesLocal(t *testing.T) {
	f := Form{Collective: new(Collective), Algorithm: new(Algorithm), Local: 3}
	if got := f.Describe().Local; got != 3 {
		t.Errorf("a call with 3 ranks on each host says %d", got)
	}
}

// TestDescribesDeclared: ranks compare the names of declared ops, and not their numbers, which may be others elsewhere:
// of calls, and of operations that calls are parts of.
func TestDescribesDeclared(t *testing.T) {
	seen := map[uint64]string{}
	for _, name := range []string{"first", "second"} {
		op, err := spec.DeclareOp(name, spec.TypeInt8, true)
		if err != nil {
			t.Fatal(err)
		}
		k := &Collective{Name: "AllReduce", Reduces: true}
		for what, f := range map[string]Form{
			"call": {Collective: k, Algorithm: new(Algorithm), Args: Args{Op: op}},
			"part": {Collective: k, Algorithm: new(Algorithm), Args: Args{Op: spec.OpSum},
				part: Part{"hosts.Reduce", op, 1, 0, 0}},
		} {
			d := f.Describe()
			if other, known := seen[d.Primitive]; known || !strings.Contains(d.Name(), name) {
				t.Errorf("%s of %s is %q, and %s", what, name, d.Name(), other)
			}
			seen[d.Primitive] = what + " of " + name
			if d.Op != uint32(f.Args.Op) && d.Op != 0 || d.Op == uint32(op) {
				t.Errorf("%s of %s has the op %d", what, name, d.Op)
			}
		}
		if m := commuting.mark(op); m != 0 {
			t.Errorf("%s is compared as %d", name, m)
		}
	}
}

// TestDescribesOrder: ranks compare whether a declared op is commutative, and say so of one that is not.
func TestDescribesOrder(t *testing.T) {
	for name, commutes := range map[string]bool{"any order": true, "one order": false} {
		op, err := spec.DeclareOp(name, spec.TypeInt8, commutes)
		if err != nil {
			t.Fatal(err)
		}
		f := Form{Collective: &Collective{Name: "Scan", Hash: 5, Reduces: true}, Algorithm: new(Algorithm),
			Args: Args{Op: op}}
		d := f.Describe()
		if (d.Primitive == thenText(5, name)) != commutes || strings.HasSuffix(d.Name(), " in order") == commutes {
			t.Errorf("an op that commutes: %t, is described as %q, %#x", commutes, d.Name(), d.Primitive)
		}
	}
}
