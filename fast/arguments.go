package fast

import (
	"fmt"
	"io"
	"os"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/launch"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Elem is the element types that collectives move and reduce: integers and floats of every size, complex numbers, bool,
// and all types that are defined as one of those. An int is an int64 or an int32, as large as it is. Whatever other
// ranks send as a bool, the caller has true or false.
type Elem interface{ spec.Elem }

// Float16 is an IEEE 754 binary16 number. Reductions of it are carried out in float32 and rounded to nearest even.
type Float16 = spec.Float16

// BFloat16 is the upper half of a float32. Reductions of it are carried out in float32 and rounded to nearest even.
type BFloat16 = spec.BFloat16

// Float8E4M3 is a number of 8 bits, of which 3 are a fraction, and is at most 448: what is more becomes a NaN.
// Reductions of it are carried out in float32 and rounded to nearest even.
type Float8E4M3 = spec.Float8E4M3

// Float8E5M2 is a number of 8 bits, of which 2 are a fraction, with the range of Float16. Reductions of it are carried
// out in float32 and rounded to nearest even.
type Float8E5M2 = spec.Float8E5M2

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
	LAnd = spec.OpLAnd // truth values, of integers and bools
	LOr  = spec.OpLOr

	MinLoc = spec.OpMinLoc // of pairs complex(value, index): the smallest value; of equal ones, the smallest index
	MaxLoc = spec.OpMaxLoc // the largest value; of equal ones, the smallest index
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

// Reproducible has each element of a Sum of floats be the exact sum of all ranks' operands, rounded once to nearest
// even; of an Avg, that divided by the number of ranks and rounded again. So the bits depend on nothing but the
// operands: not on the ranks that have them, the algorithm, the transport or the length of the call. Which NaN a sum is
// may depend on them. What a rank has added up by itself before the call is one operand: a job of fewer ranks, in which
// each adds more of its own numbers, has other operands.
//
// Such a call gets an algorithm that reduces all operands at once: one-shot or two-shot for AllReduce. A Prod of floats
// is refused. Other ops, and integers, are reproducible without it.
func Reproducible() Option { return Option{Kind: exec.ReproducibleOption} }

// WithPreMul has this rank's operands multiplied by factor before they are reduced: Sum is then NCCL's PreMulSum, and
// Avg is an average of products. Each product is rounded to the type of the elements; of 8 or 16 bits, it is computed
// in float32. The buffers hold what they do without it, besides the result. Each rank has a factor of its own, or none.
// It is for floats and complex numbers.
func WithPreMul(factor float64) Option { return Option{Kind: exec.FactorOption, Factor: factor} }

// WithLabel names the call by what it is for, such as "layers.3.weight". Ranks compare the labels of their calls, by a
// hash of 64 bits: those that make their calls in different orders, or leave one out, get a MismatchError that names
// both labels, of long ones the ends. Errors, warnings and the flight recorder have them too. A label is 1 to 256
// printable ASCII characters.
func WithLabel(label string) Option { return Option{Kind: exec.LabelOption, Name: label} }

// Collectives returns the names of this package's collectives, in alphabetical order: "AllGather", "AllReduce" and so
// on.
func Collectives() []string {
	names := make([]string, len(collectives))
	for i, k := range collectives {
		names[i] = k.Name
	}
	return names
}

// Algorithms returns the names, for WithAlgorithm, of a collective's algorithms; nil if Collectives does not have it.
// Some algorithms are only for certain numbers of ranks or ops: other calls get ErrInvalidArgument.
func Algorithms(collective string) []string {
	if k := collectiveOf(collective); k != nil {
		return k.Names()
	}
	return nil
}

// collectiveOf returns this package's collective of that name; nil if there is none.
func collectiveOf(name string) *exec.Collective {
	for _, k := range collectives {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Rule is a line of a selection table: the algorithm for calls that meet all of its conditions. The first rule that a
// call meets, and whose algorithm can serve it, counts.
type Rule = selection.Rule

// Tuning is a table of rules, measured or written by hand, that say which algorithm a call gets. The built-in rules are
// for calls that meet none of them. `collperf -tune` writes a table to a file, and `collgen gen -tune` builds it in.
type Tuning = selection.Table

// TunedFile returns the file with the rules that `collperf -tune -quick` has measured on this machine, or would. It is
// in the user's cache. COLL_TUNE=auto takes it if it exists and all ranks are on one host. [WithTuningFile] takes it in
// a program. TunedFile returns an error if the user has no cache.
func TunedFile() (string, error) { return launch.TunedFile() }

// DecodeTuning reads a table of at most 8 MiB, in JSON:
//
//	{
//	  "machine": "2 cores of …", "date": "2026-11-21", "command": "collperf -tune …",
//	  "rules": {
//	    "AllReduce": [
//	      {"transport": "shm", "maxSize": 2, "maxBytes": 16384, "algorithm": "recursive-doubling"},
//	      {"transport": "shm", "algorithm": "ring"}
//	    ]
//	  }
//	}
//
// [Rule] has the conditions. DecodeTuning returns an error that names the place if a name is unknown or the form is
// wrong, if an algorithm cannot serve the calls of its rule, or if a rule can never count because of those before it.
func DecodeTuning(from io.Reader) (*Tuning, error) {
	t, err := selection.Decode(from)
	if err != nil {
		return nil, err
	}
	return t, checkTuning(t)
}

// checkTuning checks the collectives and algorithms that t names.
func checkTuning(t *Tuning) error {
	algorithms := make(map[string][]selection.Algorithm)
	for _, k := range collectives {
		algorithms[k.Name] = k.Selectable()
	}
	return t.Check(algorithms)
}

// tunedByFile returns the table in a file.
func tunedByFile(path string) (tuned, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a FIFO would block
		return tuned{}, fmt.Errorf("the selection table %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return tuned{}, err
	}
	defer f.Close()
	t, err := selection.Decode(f)
	if err != nil {
		return tuned{}, fmt.Errorf("%s: %w", path, err)
	}
	return tunedBy(t, path)
}

// tunedBy returns a copy of t, which errors call name.
func tunedBy(t *Tuning, name string) (tuned, error) {
	if t == nil {
		return tuned{}, nil
	}
	made := tuned{name, make(map[*exec.Collective][]Rule)}
	for _, k := range collectives {
		made.rules[k] = append([]Rule(nil), t.Rules[k.Name]...)
	}
	return made, checkTuning(t)
}
