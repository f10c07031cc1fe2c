package bench

import (
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// Element is an element type that operations can be measured with.
type Element struct {
	Name  string
	Alias string // its name in nccl-tests
	Type  spec.Type
	Bytes int
	Exact int64 // sums up to it are exact, and do not wrap around
}

// Elements are all element types.
var Elements = []Element{
	{"float32", "float", spec.TypeFloat32, 4, 1 << 24},
	{"float64", "double", spec.TypeFloat64, 8, 1 << 53},
	{"float16", "half", spec.TypeFloat16, 2, 1 << 11},
	{"bfloat16", "bfloat16", spec.TypeBFloat16, 2, 1 << 8},
	{"int8", "int8", spec.TypeInt8, 1, 1<<7 - 1},
	{"int16", "int16", spec.TypeInt16, 2, 1<<15 - 1},
	{"int32", "int32", spec.TypeInt32, 4, 1<<31 - 1},
	{"int64", "int64", spec.TypeInt64, 8, 1 << 53},
	{"uint8", "uint8", spec.TypeUint8, 1, 1<<8 - 1},
	{"uint16", "uint16", spec.TypeUint16, 2, 1<<16 - 1},
	{"uint32", "uint32", spec.TypeUint32, 4, 1<<32 - 1},
	{"uint64", "uint64", spec.TypeUint64, 8, 1 << 53},
	{"float8e4m3", "f8e4m3", spec.TypeFloat8E4M3, 1, 1 << 4},
	{"float8e5m2", "f8e5m2", spec.TypeFloat8E5M2, 1, 1 << 3},
	{"bool", "bool", spec.TypeBool, 1, 1 << 53}, // there are no sums
}

// ElementNamed returns the element type of that name or alias, if there is one.
func ElementNamed(name string) (Element, bool) {
	i := slices.IndexFunc(Elements, func(e Element) bool { return e.Name == name || e.Alias == name })
	if i < 0 {
		return Element{}, false
	}
	return Elements[i], true
}

// Reduction is a reduction operator. It is computed here independently of package fast.
type Reduction struct {
	Op   fast.Op
	fold func(a, b int64) int64
}

// divisor returns what the sum of all ranks is divided by: their number for Avg.
func (r Reduction) divisor(ranks int) int64 {
	if r.Op == fast.Avg {
		return int64(ranks)
	}
	return 1
}

// Reductions are all reduction operators.
var Reductions = []Reduction{
	{Op: fast.Sum, fold: func(a, b int64) int64 { return a + b }},
	{Op: fast.Prod, fold: func(a, b int64) int64 { return a * b }},
	{Op: fast.Min, fold: func(a, b int64) int64 { return min(a, b) }},
	{Op: fast.Max, fold: func(a, b int64) int64 { return max(a, b) }},
	{Op: fast.Avg, fold: func(a, b int64) int64 { return a + b }},
	{Op: fast.BAnd, fold: func(a, b int64) int64 { return a & b }},
	{Op: fast.BOr, fold: func(a, b int64) int64 { return a | b }},
	{Op: fast.BXor, fold: func(a, b int64) int64 { return a ^ b }},
	{Op: fast.LAnd, fold: func(a, b int64) int64 { return toInt(a != 0 && b != 0) }},
	{Op: fast.LOr, fold: func(a, b int64) int64 { return toInt(a != 0 || b != 0) }},
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// ReductionNamed returns the operator of that name, if there is one.
func ReductionNamed(name string) (Reduction, bool) {
	i := slices.IndexFunc(Reductions, func(r Reduction) bool { return r.Op.String() == name })
	if i < 0 {
		return Reduction{}, false
	}
	return Reductions[i], true
}
