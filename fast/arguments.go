package fast

import (
	"github.com/collgen/collgen/fast/internal/exec"
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

// Blocks says how long the blocks of a buffer are, in elements, and where they lie. Displs may be nil: then each block
// begins where the one before it ends, and together they fill the buffer. Otherwise they may lie in any order, with
// gaps between them. No two may overlap, except in the src of AllToAllV.
//
// Counts and Displs may be changed as soon as a function has returned, also one that has only started a call.
type Blocks = exec.Blocks

// Option changes how one call is carried out. All ranks have to pass the same options. The zero Option changes nothing.
type Option = exec.Option

// WithAlgorithm names the algorithm of a call, in place of the one that the selection table gives.
func WithAlgorithm(name string) Option {
	return Option{Kind: exec.AlgorithmOption, Name: name}
}

// WithDepth has a pipelined algorithm cut its chunks into n pieces, n >= 1, but not into more pieces than a block has
// elements. Other algorithms ignore it. The call is refused if the algorithm was not proved for this depth, unless it
// has the option Unproved.
func WithDepth(n int) Option { return Option{Kind: exec.DepthOption, Depth: n} }

// Unproved permits an algorithm that was not proved for the number of ranks or the depth of the call; without it, such
// a call is refused. The algorithm may then give wrong results, or never end. Unless WithAlgorithm names one, the call
// still gets an algorithm that was proved for this number of ranks, if there is one. All algorithms of this package
// were proved for every number of ranks and every depth.
func Unproved() Option { return Option{Kind: exec.UnprovedOption} }
