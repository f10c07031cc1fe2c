package spec_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestOpTypes is the table of MPI 4.1, section 6.9.2, with Avg as Sum; a bool is what that calls logical.
func TestOpTypes(t *testing.T) {
	const integers, logical, floats, complexes = "i", "ib", "if", "ifc"
	letters := map[spec.TypeClass]string{spec.Signed: "i", spec.Unsigned: "i", spec.Floating: "f", spec.Complex: "c",
		spec.Boolean: "b"}
	for _, c := range []struct {
		ops   []spec.Op
		takes string
	}{
		{[]spec.Op{spec.OpSum, spec.OpProd, spec.OpAvg}, complexes},
		{[]spec.Op{spec.OpMin, spec.OpMax}, floats},
		{[]spec.Op{spec.OpMinLoc, spec.OpMaxLoc}, "c"},
		{[]spec.Op{spec.OpBAnd, spec.OpBOr, spec.OpBXor}, integers},
		{[]spec.Op{spec.OpLAnd, spec.OpLOr}, logical},
	} {
		for _, o := range c.ops {
			for _, x := range spec.Types() {
				if got, want := o.Takes(x), strings.Contains(c.takes, letters[x.Class()]); got != want {
					t.Errorf("%v takes %v: %v", o, x, got)
				}
			}
			if got := o.Finishes(); got != (o == spec.OpAvg) {
				t.Errorf("%v finishes: %v", o, got)
			}
			if !o.Commutative() || !o.Associative() || o.Doc() == "" {
				t.Errorf("%v is not as MPI has it", o)
			}
		}
	}
}

func TestFloats(t *testing.T) {
	for op, want := range map[spec.Op]spec.FloatRule{spec.OpSum: spec.Rounds, spec.OpAvg: spec.Rounds,
		spec.OpBOr: spec.NoFloats} {
		if got := op.Floats(); got != want {
			t.Errorf("%v: %v, want %v", op, got, want)
		}
	}
	if spec.OpMin.Floats() == spec.NoFloats {
		t.Error("min takes floats")
	}
}

func TestErrorBound(t *testing.T) {
	for _, c := range []struct {
		op       spec.Op
		typ      spec.Type
		depth, n int
		want     float64
	}{
		{spec.OpSum, spec.TypeInt32, 5, 6, 0},
		{spec.OpMax, spec.TypeFloat32, 5, 6, 0},
		{spec.OpSum, spec.TypeFloat32, 0, 1, 0},
		{spec.OpSum, spec.TypeFloat64, 1, 2, 0x1p-53 / (1 - 0x1p-53)},
		{spec.OpSum, spec.TypeComplex64, 3, 8, 3 * 0x1p-24 / (1 - 3*0x1p-24)},
		{spec.OpAvg, spec.TypeFloat16, 3, 8, 4 * 0x1p-11 / (1 - 4*0x1p-11)},
		{spec.OpProd, spec.TypeBFloat16, 3, 8, 7 * 0x1p-8 / (1 - 7*0x1p-8)},
		{spec.OpSum, spec.TypeBFloat16, 256, 257, math.Inf(1)},
	} {
		if got := c.op.ErrorBound(c.typ, c.depth, c.n); got != c.want {
			t.Errorf("%v on %v, depth %d of %d: %v, want %v", c.op, c.typ, c.depth, c.n, got, c.want)
		}
	}
	if got := spec.OpBAnd.ErrorBound(spec.TypeFloat32, 1, 2); !math.IsNaN(got) {
		t.Errorf("an operator that does not take the type has a bound of %v", got)
	}
	if got, want := spec.OpProd.ErrorBound(spec.TypeComplex64, 1, 2), math.Sqrt(5)*0x1p-24; math.Abs(got-want) > 1e-20 {
		t.Errorf("one complex product: %v, want %v", got, want)
	}
}

// TestDeclareOp declares as many operators as there is room for. Each has a name of its own, and takes its type alone.
func TestDeclareOp(t *testing.T) {
	for i := range spec.MaxDeclared {
		name, typ, commutes := fmt.Sprint("op", i), spec.Types()[i%len(spec.Types())], i%2 == 0
		o, err := spec.DeclareOp(name, typ, commutes)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Declared() || o.Valid() || o.String() != name || o.Commutative() != commutes || o.Finishes() ||
			o >= 1<<7 || slices.Contains(spec.Ops(), o) {
			t.Errorf("%s is %d, %v", name, o, o)
		}
		for _, x := range spec.Types() {
			if o.Takes(x) != (x == typ) || o.Exact(x) && x.Precision() > 0 {
				t.Errorf("%v, of %v, takes %v: %v", o, typ, x, o.Takes(x))
			}
		}
		for _, taken := range []string{name, "sum"} {
			for _, other := range []spec.Type{typ, spec.Types()[(i+1)%len(spec.Types())]} {
				if _, err := spec.DeclareOp(taken, other, commutes); err == nil {
					t.Errorf("two ops are called %s", taken)
				}
			}
		}
	}
	if o, err := spec.DeclareOp("one too many", spec.TypeInt8, true); err == nil {
		t.Errorf("there is room for %v", o)
	}
	for _, o := range []spec.Op{0, 13, 63, 128, 255} {
		if o.Declared() || o.Takes(spec.TypeInt8) {
			t.Errorf("%v was declared", o)
		}
	}
}
