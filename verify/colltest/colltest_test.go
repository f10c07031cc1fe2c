package colltest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

var sizes = []int{1, 2, 3, 4, 5}

// TestRun: an implementation that does everything right passes, and nothing is left out but what cannot be compared.
func TestRun(t *testing.T) {
	colltest.Run(t, &central{can: colltest.All("central", sizes...)})
}

// TestRef: so does package ref, which has blocking calls without uneven counts, and does not compare counts.
func TestRef(t *testing.T) {
	can := colltest.Everything("ref", 1, 2, 3)
	for i := range can.Primitives {
		can.Primitives[i].Uneven = false
	}
	can.Refuses = []colltest.Wrong{colltest.WrongRoot}
	s := colltest.NewSuite(&central{can: can, byRef: true})
	s.Cases = 5
	s.Run(t)
}

// TestFaults: every fault is found, and made as small as it can be.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // some wait for ranks that hang
			found := search(t.Context(), f)
			if len(found) == 0 {
				t.Fatal("it was not found")
			}
			t.Log(found[0])
			f.compare(t, found[0])
		})
	}
}

// search returns what a suite finds.
func search(ctx context.Context, f planted) []*colltest.Failure {
	can := colltest.Everything("faulty", sizes...)
	can.Direct = !raceDetector
	s := colltest.NewSuite(&central{fault: f.fault, can: can})
	s.Patience, s.Shrinking, s.Failures = 300*time.Millisecond, 2*time.Second, 1
	i := slices.IndexFunc(s.Capabilities().Primitives,
		func(x colltest.Support) bool { return x.Primitive.Name == f.primitive })
	found := s.Check(ctx, s.Capabilities().Primitives[i])
	_ = s.Close() // some hang
	return found
}

// TestTried: each case is told of, with what it failed with.
func TestTried(t *testing.T) {
	can := colltest.Everything("faulty", 1, 2)
	can.Direct = !raceDetector
	f := fault{combine: onFloat32(spec.OpSum, func(x, y float32) float32 { return x + y + 1 })}
	s := colltest.NewSuite(&central{fault: f, can: can})
	s.Shrinking, s.Cases, s.Failures = 2*time.Second, 2, 1000
	cases := map[string]int{} // by whether they failed, and with what
	s.Tried = func(name string, c colltest.Case, f *colltest.Failure) {
		if name != "Reduce" || len(c.Steps) == 0 {
			t.Errorf("%s: %s", name, c.JSON())
		}
		if f == nil {
			cases["passed"]++
			return
		}
		cases[f.At().TypeOp()]++
	}
	i := slices.IndexFunc(can.Primitives, func(x colltest.Support) bool { return x.Primitive.Name == "Reduce" })
	found := s.Check(t.Context(), can.Primitives[i])
	if tested := s.Tested["Reduce"]; len(found) == 0 || len(cases) != 2 || cases["float32 sum"] == 0 ||
		cases["passed"]+cases["float32 sum"] != tested.Cases {
		t.Errorf("tried %v, tested %+v, found %d failures", cases, tested, len(found))
	}
}

// compare compares the case that was found with the smallest.
func (f *planted) compare(t *testing.T, found *colltest.Failure) {
	c, want := found.Case, f.smallest
	if c.Size != want.Size {
		t.Errorf("found on %d ranks, want %d", c.Size, want.Size)
	}
	if len(want.Steps) == 0 {
		return
	}
	if len(c.Steps) != 1 {
		t.Fatalf("found with %d calls, want 1", len(c.Steps))
	}
	got, one := c.Steps[0], want.Steps[0]
	if got.Count != one.Count || got.Root != one.Root || got.InPlace != one.InPlace || len(got.Counts) != len(one.Counts) {
		t.Errorf("found %+v, want %+v", got, one)
	}
	if one.Type != 0 && (got.Type != one.Type || got.Op != one.Op) {
		t.Errorf("found with %v by %v, want %v by %v", got.Type, got.Op, one.Type, one.Op)
	}
}

// TestSkips: what an implementation does not have is not tested, and is said.
func TestSkips(t *testing.T) {
	can := colltest.Everything("small", 1, 2)
	can.Primitives = can.Primitives[2:3]
	can.Primitives[0].InPlace = false
	can.Types, can.Ops = []spec.Type{spec.TypeInt8, spec.TypeFloat32}, []spec.Op{spec.OpMax}
	can.LeastCount, can.NaN = 1, false
	s := colltest.NewSuite(&central{can: can})
	if f := s.Check(t.Context(), can.Primitives[0]); len(f) > 0 {
		t.Fatal(f[0])
	}
	untested := strings.Join(s.Untested(), "; ")
	for _, want := range []string{"AllGather", "AllReduce in place", "Broadcast", "float64", "sum", "less than 1 elements",
		"NaN"} {
		if !strings.Contains(untested, want) {
			t.Errorf("%q is not said: %s", want, untested)
		}
	}
	for _, wrong := range []string{"float32", "max,", "-0"} {
		if strings.Contains(untested, wrong) {
			t.Errorf("%q was tested: %s", wrong, untested)
		}
	}
	if got := s.Tested["AllReduce"]; got.Cases == 0 || got.Elements == 0 {
		t.Errorf("tested: %+v", got)
	}
}

// TestUndetermined: results without a verdict are counted, and said.
func TestUndetermined(t *testing.T) {
	can := colltest.Everything("backwards", 3)
	can.Types, can.Ops = []spec.Type{spec.TypeFloat32}, []spec.Op{spec.OpProd}
	backwards := fault{operands: func(_ int, _ *colltest.Call, x [][]byte) [][]byte {
		x = bytesOf(x)
		slices.Reverse(x)
		return x
	}}
	s := colltest.NewSuite(&central{fault: backwards, can: can})
	i := slices.IndexFunc(can.Primitives, func(x colltest.Support) bool { return x.Primitive.Name == "AllReduce" })
	if f := s.Check(t.Context(), can.Primitives[i]); len(f) > 0 {
		t.Fatal(f[0])
	}
	got := s.Tested["AllReduce"]
	want := fmt.Sprintf("%d of %d reduced elements", got.Undetermined, got.Elements)
	if untested := strings.Join(s.Untested(), "; "); got.Undetermined == 0 || !strings.Contains(untested, want) {
		t.Errorf("tested %+v; %q is not said: %s", got, want, untested)
	}
}

// TestWithout: what is left out is missing, and what is not there cannot be left out.
func TestWithout(t *testing.T) {
	all := colltest.All("all", 1, 2)
	for _, name := range []string{"AllReduce", "Reduce/in-place", "Gather/uneven", "float16", "avg", "nan", "minus-zero",
		"overflow", "empty", "Gather/displaced", "started", "batches", "persistent", "split", "tags", "wrong-root",
		"wrong-counts", "after-wrong", "compose"} {
		less, err := all.Without(name)
		if err != nil {
			t.Error(err)
		}
		s := colltest.NewSuite(&central{can: less})
		if untested := s.Untested(); len(untested) != 1 {
			t.Errorf("without %s, not tested: %q", name, untested)
		}
	}
	for _, x := range all.Primitives {
		if less, err := all.Without(x.Primitive.Name + "/apart"); err != nil ||
			len(colltest.NewSuite(&central{can: less}).Untested()) != 1 {
			t.Errorf("%s out of place is not left out: %v", x.Primitive.Name, err)
		}
	}
	for _, name := range []string{"Shuffle", "float15", "Send/in-place", "Send/twice", "Shuffle/apart", ""} {
		if _, err := all.Without(name); err == nil {
			t.Errorf("%q was left out", name)
		}
	}
	if untested := colltest.NewSuite(&central{can: all}).Untested(); len(untested) > 0 {
		t.Errorf("of everything, not tested: %q", untested)
	}
}

// TestNothingToCall: where no size, type or op leaves a call, none is made, and it is said.
func TestNothingToCall(t *testing.T) {
	for _, c := range []struct {
		name string
		can  colltest.Capabilities
		want string
	}{
		{"Send", colltest.Everything("alone", 1), "any of the sizes [1]"},
		{"AllReduce", colltest.Capabilities{Sizes: []int{2}, Ops: spec.Ops()}, "no type or op"},
		{"AllReduce", colltest.Capabilities{Sizes: []int{2}, Types: spec.Types()}, "no type or op"},
		{"Barrier", colltest.Capabilities{Sizes: []int{2}}, "no type or op"},
	} {
		all := colltest.Everything("").Primitives
		of := all[slices.IndexFunc(all, func(x colltest.Support) bool { return x.Primitive.Name == c.name })]
		c.can.Primitives = []colltest.Support{of}
		s := colltest.NewSuite(&central{can: c.can})
		if f := s.Check(t.Context(), of); len(f) > 0 || len(s.Tested) > 0 {
			t.Errorf("%s: %v, tested %v", c.name, f, s.Tested)
		}
		if untested := strings.Join(s.Untested(), "; "); !strings.Contains(untested, c.name+", ") ||
			!strings.Contains(untested, c.want) {
			t.Errorf("%s: %q is not said: %s", c.name, c.want, untested)
		}
	}
}

// TestLargeLeastCount: blocks may have to be larger than all that are drawn otherwise.
func TestLargeLeastCount(t *testing.T) {
	can := colltest.Everything("large blocks", 2)
	can.LeastCount, can.Types = 80000, []spec.Type{spec.TypeInt8}
	s := colltest.NewSuite(&central{can: can})
	s.Cases = 2
	i := slices.IndexFunc(can.Primitives, func(x colltest.Support) bool { return x.Primitive.Name == "Broadcast" })
	if f := s.Check(t.Context(), can.Primitives[i]); len(f) > 0 || s.Tested["Broadcast"].Cases < 4 {
		t.Errorf("%v, tested %v", f, s.Tested)
	}
}
