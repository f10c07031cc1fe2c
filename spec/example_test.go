package spec_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestExamples has three parties agree: the specifications, ref, and the documents that the examples are from.
func TestExamples(t *testing.T) {
	for _, x := range slices.Concat(spectest.Examples, spectest.Uneven) {
		t.Run(x.Primitive+"/"+x.Source, func(t *testing.T) {
			if err := checkExample(primitive(t, x.Primitive), x); err != nil {
				t.Errorf("the specification: %v", err)
			}
			out, err := runRef(x)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(out), fmt.Sprint(x.Out); got != want {
				t.Errorf("ref: got %s, want %s", got, want)
			}
		})
	}
}

// TestExamplesCover demands an example of every primitive and operator, and of whether each primitive can be in place.
func TestExamplesCover(t *testing.T) {
	count := map[string]int{}
	for _, x := range slices.Concat(spectest.Examples, spectest.Uneven) {
		count[x.Primitive]++
		count[x.Op.String()]++
		if x.InPlace != nil {
			count[x.Primitive+" in place"]++
		}
	}
	for _, p := range spec.Primitives() {
		for _, what := range []string{p.Name, p.Name + " in place"} {
			if count[what] == 0 {
				t.Errorf("no example of %s", what)
			}
		}
	}
	for _, o := range spec.Ops() {
		if count[o.String()] == 0 {
			t.Errorf("no example of %v", o)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range spectest.Refusals {
		if err := checkRefusal(primitive(t, x.Primitive), x); err != nil {
			t.Error(err)
		}
	}
}

func checkRefusal(p spec.Primitive, x spectest.Refusal) error {
	_, err := spec.Expect(p, x.Call)
	if refused := (*spec.RefusedError)(nil); !errors.As(err, &refused) {
		return fmt.Errorf("%s %+v: %v, want it refused (%s)", p.Name, x.Call, err, x.Source)
	}
	return nil
}

func primitive(t *testing.T, name string) spec.Primitive {
	t.Helper()
	for _, p := range spec.Primitives() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no primitive is called %s", name)
	return spec.Primitive{}
}

// checkExample compares what p promises with x.
func checkExample(p spec.Primitive, x spectest.Example) error {
	in, out := reflect.ValueOf(x.In), reflect.ValueOf(x.Out)
	e, err := spec.Expect(p, spec.Call{Size: in.Len(), Root: x.Root, Peer: x.Peer})
	if err != nil {
		return err
	}
	if e.Order != x.Order {
		return fmt.Errorf("order: %v, want %v", e.Order, x.Order)
	}
	for rank := range e.Ranks {
		if err := checkRank(e, rank, x, in, out); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

func checkRank(e *spec.Expectation, rank int, x spectest.Example, in, out reflect.Value) error {
	r := e.Ranks[rank]
	inPlace := [2]int{r.InBlock, r.OutBlock}
	switch {
	case !slices.Equal(r.Entered, entered(x, rank)):
		return fmt.Errorf("%v have entered, want %v", r.Entered, entered(x, rank))
	case x.InPlace != nil && inPlace != x.InPlace[rank]:
		return fmt.Errorf("in place: %v, want %v", inPlace, x.InPlace[rank])
	}
	for i, c := range r.In {
		if c.Kind != spec.Unchanged {
			return fmt.Errorf("block %d of in is %v, want it unchanged", i, c.Kind)
		}
	}
	if err := checkBlocks(r.Given, r.InLengths, in.Index(rank), x, e); err != nil {
		return fmt.Errorf("in: %w", err)
	}
	if err := checkBlocks(r.Out, r.OutLengths, out.Index(rank), x, e); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

func entered(x spectest.Example, rank int) []int {
	if x.Entered == nil {
		return nil
	}
	return x.Entered[rank]
}

// checkBlocks compares the contents of a buffer with the values that it has in x.
func checkBlocks(contents []spec.Content, lengths []spec.Length, want reflect.Value, x spectest.Example,
	e *spec.Expectation) error {
	if got := x.Start(lengths, len(contents)); got != want.Len() {
		return fmt.Errorf("%d elements, want %d", got, want.Len())
	}
	for b, c := range contents {
		from := x.Start(lengths, b)
		for i := range x.Start(lengths, b+1) - from {
			got, want := fmt.Sprint(interpret(c, x, e, i)), fmt.Sprint(want.Index(from+i))
			if got != want {
				return fmt.Errorf("element %d of block %d is %s, want %s", i, b, got, want)
			}
		}
	}
	return nil
}

// interpret is element i of what a block holds.
func interpret(c spec.Content, x spectest.Example, e *spec.Expectation, i int) any {
	if c.Kind != spec.Input && c.Kind != spec.Fold {
		return c.Kind
	}
	var acc any
	in := reflect.ValueOf(x.In)
	for n, term := range c.Terms {
		v := in.Index(term.Rank).Index(x.Start(e.Ranks[term.Rank].InLengths, term.Block) + i).Interface()
		if n == 0 {
			acc = v
		} else {
			acc = combine(x.Op, acc, v)
		}
	}
	if c.Kind == spec.Fold && x.Op == spec.OpAvg {
		acc = quotient(acc, in.Len())
	}
	return acc
}

// combine interprets an operator in a way of its own: integers without bounds, floats in float64 (which is wide enough
// that the second rounding does no harm), and conversion to the type in the end.
func combine(op spec.Op, a, b any) any {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt(), x.CanUint():
		return wrap(bigOp(op, bigOf(x), bigOf(y)), x.Type())
	case x.Kind() == reflect.Bool && op == spec.OpLAnd:
		return x.Bool() && y.Bool()
	case x.Kind() == reflect.Bool:
		return x.Bool() || y.Bool()
	case x.CanComplex() && op == spec.OpProd:
		return reflect.ValueOf(x.Complex() * y.Complex()).Convert(x.Type()).Interface()
	case x.CanComplex() && (op == spec.OpMinLoc || op == spec.OpMaxLoc):
		return reflect.ValueOf(pairOp(op, x.Complex(), y.Complex())).Convert(x.Type()).Interface()
	case x.CanComplex():
		return reflect.ValueOf(x.Complex() + y.Complex()).Convert(x.Type()).Interface()
	}
	return narrow(floatOp(op, widen(a), widen(b)), a)
}

// pairOp is x or y, if one of them has the value that is looked for, or else either with the smaller index.
func pairOp(op spec.Op, x, y complex128) complex128 {
	by := map[spec.Op]spec.Op{spec.OpMinLoc: spec.OpMin, spec.OpMaxLoc: spec.OpMax}[op]
	value := fmt.Sprint(floatOp(by, real(x), real(y)))
	switch {
	case fmt.Sprint(real(y)) != value:
		return x
	case fmt.Sprint(real(x)) != value:
		return y
	}
	return complex(real(x), floatOp(spec.OpMin, imag(x), imag(y)))
}

func quotient(a any, n int) any {
	x := reflect.ValueOf(a)
	if x.CanInt() || x.CanUint() {
		return wrap(new(big.Int).Quo(bigOf(x), big.NewInt(int64(n))), x.Type())
	}
	return narrow(widen(a)/float64(n), a)
}

func bigOf(x reflect.Value) *big.Int {
	if x.CanInt() {
		return big.NewInt(x.Int())
	}
	return new(big.Int).SetUint64(x.Uint())
}

// wrap returns x modulo 2^bits, as a number of the type.
func wrap(x *big.Int, t reflect.Type) any {
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)) // And has two's complement semantics
	return reflect.ValueOf(low.Uint64()).Convert(t).Interface()
}

func bigOp(op spec.Op, x, y *big.Int) *big.Int {
	r := new(big.Int)
	bothTrue, anyTrue := x.Sign()*y.Sign() != 0, x.Sign() != 0 || y.Sign() != 0
	switch op {
	case spec.OpSum, spec.OpAvg:
		return r.Add(x, y)
	case spec.OpProd:
		return r.Mul(x, y)
	case spec.OpMin, spec.OpMax:
		if (x.Cmp(y) < 0) == (op == spec.OpMin) {
			return x
		}
		return y
	case spec.OpBAnd:
		return r.And(x, y)
	case spec.OpBOr:
		return r.Or(x, y)
	case spec.OpBXor:
		return r.Xor(x, y)
	case spec.OpLAnd:
		return big.NewInt(map[bool]int64{true: 1}[bothTrue])
	}
	return big.NewInt(map[bool]int64{true: 1}[anyTrue])
}

func floatOp(op spec.Op, x, y float64) float64 {
	switch {
	case op == spec.OpSum, op == spec.OpAvg:
		return x + y
	case op == spec.OpProd:
		return x * y
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	xIsLess := x < y || x == y && math.Signbit(x)
	if xIsLess == (op == spec.OpMin) {
		return x
	}
	return y
}

func widen(a any) float64 {
	switch a := a.(type) {
	case spec.Float16:
		return float64(a.Float32())
	case spec.BFloat16:
		return float64(a.Float32())
	case spec.Float8E4M3:
		return float64(a.Float32())
	case spec.Float8E5M2:
		return float64(a.Float32())
	}
	return reflect.ValueOf(a).Float()
}

// narrow rounds f to the type of like.
func narrow(f float64, like any) any {
	switch like.(type) {
	case spec.Float16:
		return spec.NewFloat16(float32(f))
	case spec.BFloat16:
		return spec.NewBFloat16(float32(f))
	case spec.Float8E4M3:
		return spec.NewFloat8E4M3(float32(f))
	case spec.Float8E5M2:
		return spec.NewFloat8E5M2(float32(f))
	}
	return reflect.ValueOf(f).Convert(reflect.TypeOf(like)).Interface()
}

func runRef(x spectest.Example) (any, error) {
	switch in := x.In.(type) {
	case [][]int8:
		return call(x, in)
	case [][]int16:
		return call(x, in)
	case [][]int32:
		return call(x, in)
	case [][]int64:
		return call(x, in)
	case [][]uint8:
		return call(x, in)
	case [][]uint16:
		return call(x, in)
	case [][]uint32:
		return call(x, in)
	case [][]uint64:
		return call(x, in)
	case [][]spec.Float16:
		return call(x, in)
	case [][]spec.BFloat16:
		return call(x, in)
	case [][]float32:
		return call(x, in)
	case [][]float64:
		return call(x, in)
	case [][]complex64:
		return call(x, in)
	case [][]complex128:
		return call(x, in)
	case [][]bool:
		return call(x, in)
	case [][]spec.Float8E4M3:
		return call(x, in)
	case [][]spec.Float8E5M2:
		return call(x, in)
	}
	return nil, fmt.Errorf("%T is not [][]T of an element type T", x.In)
}

func call[T spec.Elem](x spectest.Example, in [][]T) (any, error) {
	return ref.Call[T]{In: in, Op: x.Op, Root: x.Root, Peer: x.Peer, Counts: x.Counts}.Run(x.Primitive)
}
