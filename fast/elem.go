package fast

import (
	"github.com/collgen/collgen/spec"
)

// Elem is the element types that collectives move and reduce: integers and floats of every size, complex numbers, and
// all types that are defined as one of those. An int is an int64 or an int32, as large as it is.
type Elem interface{ spec.Elem }

// Float16 is an IEEE 754 binary16 number. Reductions of it are carried out in float32 and rounded to nearest even.
type Float16 = spec.Float16

// BFloat16 is the upper half of a float32. Reductions of it are carried out in float32 and rounded to nearest even.
type BFloat16 = spec.BFloat16

// Op is a reduction operator. Its exact semantics are those of package spec.
type Op = spec.Op

// The reduction operators.
const (
	Sum  = spec.OpSum  // integers wrap around
	Prod = spec.OpProd // integers wrap around
	Min  = spec.OpMin  // a NaN wins; -0 < +0
	Max  = spec.OpMax  // a NaN wins; -0 < +0
	Avg  = spec.OpAvg  // the sum, and one division by the number of ranks; integers are truncated toward zero
	BAnd = spec.OpBAnd // bits, of integers
	BOr  = spec.OpBOr
	BXor = spec.OpBXor
	LAnd = spec.OpLAnd // truth values, of integers
	LOr  = spec.OpLOr
)
